import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { onlyFlux, reference } from '../scenarios/stage.ts';
import { documents } from './documents.ts';

/** A landscape that has the releases which the examples name. */
const distribution = mkdtempSync(join(tmpdir(), 'former-examples-'));
for (const version of ['v2.1.2', 'v2.3.0', 'v2.6.1', 'v2.9.4']) {
  await cp(join(standIn.folder, standIn.version), join(distribution, version), { recursive: true });
}
afterAll(() => rmSync(distribution, { recursive: true, force: true }));

const ok = { code: 0, out: '', err: '' };
/** Runs a command with one manifest. */
async function run(command: string, option: string, manifest: object, ...more: string[]) {
  await using input = await files({ manifest: stringify(manifest) });
  return await shootFlux([command, '--flux-distribution', distribution, option, input.paths.manifest, ...more]);
}

const template = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' };
const git = {
  ...template,
  spec: { ref: { branch: 'main' }, url: 'https://github.com/fluxcd/flux2-kustomize-helm-example' },
};
const oci = {
  ...{ apiVersion: 'source.toolkit.fluxcd.io/v1beta2', kind: 'OCIRepository' },
  spec: { url: 'oci://ghcr.io/example/manifests', ref: { tag: 'latest' } },
};
const semver = {
  ...oci,
  apiVersion: template.apiVersion,
  spec: { ...oci.spec, ref: { semver: '>= 1.0.0' }, interval: '10m' },
};
const config = (version: string, source: object, path: string, more: object = {}) =>
  onlyFlux({
    flux: { version, registry: 'ghcr.io/fluxcd', namespace: 'flux-system' },
    source,
    kustomization: {
      template: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', spec: { path } },
    },
    ...more,
  });
const folder = 'clusters/production';
const resources = [
  reference('flux-ssh-secret', 'my-project-secret'),
  reference('shoot-vault-secret', 'project-vault-secret'),
];
const private_ = {
  template: { ...git, spec: { ...git.spec, secretRef: { name: 'flux-system' } } },
  secretResourceName: 'flux-ssh-secret',
};
const additionalSecretResources = [{ name: 'shoot-vault-secret', targetName: 'vault' }];

/** The examples of both extensions, field by field: of Shoots, of Extensions, and of their READMEs. */
const examples: [string, object][] = [
  ['the Shoot of 23technologies', config('v2.3.0', { template: git }, folder)],
  ['the Shoot of stackitcloud', config('v2.6.1', { template: git }, folder)],
  ['its Shoot with the commented lines', config('v2.6.1', private_, folder, { additionalSecretResources })],
  ['the Extension of 23technologies', config('v2.1.2', { template: git }, `${folder}/flux-system`)],
  ['the Extension of stackitcloud', config('v2.1.2', { gitRepository: { template: git } }, `${folder}/flux-system`)],
  ['its Extension with credentials', config('v2.1.2', { gitRepository: private_ }, folder)],
  ['its Extension with an artifact', config('v2.1.2', { ociRepository: { template: semver } }, folder)],
  ['Git in the README', config('v2.6.1', { template: git, secretResourceName: 'flux-ssh-secret' }, folder)],
  ['an artifact in the README', config('v2.6.1', { template: oci, secretResourceName: 'flux-ssh-secret' }, folder)],
];

describe('an example of a former extension works unchanged', () => {
  it.each(examples)('%s', async (_what, providerConfig) => {
    const shoot = {
      ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
      metadata: { name: 'flux', namespace: 'garden-local' },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig }], resources, region: 'local' },
    };
    const { flux } = providerConfig as { flux: { version: string } };
    const why = 'whose minor version is no longer maintained; use Flux v2.9.4';
    const err = `warning: providerConfig: flux.version resolves to Flux ${flux.version}, ${why}\n`;
    expect(await run('validate', '--shoot', shoot)).toEqual({ ...ok, err });
    const { code, out } = await run('render', '--shoot', shoot, '--json');
    expect(code).toBe(0);
    const { items } = parse(out) as {
      items: { apiVersion: string; kind: string; metadata: { name: string; namespace: string } }[];
    };
    const kind = JSON.stringify(providerConfig).includes('OCIRepository') ? 'OCIRepository' : 'GitRepository';
    const found = items.filter((item) => ['Kustomization', kind].includes(item.kind));
    expect(
      found.map(({ apiVersion, kind, metadata: { namespace, name } }) => [apiVersion, kind, namespace, name]),
    ).toEqual([
      ['source.toolkit.fluxcd.io/v1', kind, 'flux-system', 'flux-system'],
      ['kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'flux-system', 'flux-system'],
    ]);
  });

  it('the ConfigMap of 23technologies, apart from a Flux before 2.0', async () => {
    const map = (data: object) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'flux-config', namespace: 'garden-testing' } },
      data: {
        ...{ repositoryUrl: 'ssh://git@github.com/THE-OWNER/THE-REPO', repositoryBranch: 'main' },
        ...{ repositoryType: 'private', ...data },
      },
    });
    expect(await run('validate', '--flux-config', map({}))).toEqual(ok);
    const { code, out } = await run('validate', '--flux-config', map({ fluxVersion: '0.29.5' }));
    expect(code).toBe(1);
    expect(out).toContain('fluxVersion "0.29.5" is a Flux version before 2.0');
  });

  const options: Record<string, string> = {
    ConfigMap: '--flux-config',
    Shoot: '--shoot',
    FluxConfig: '--provider-config',
  };
  const manifests = (documents.find(({ path }) => path === 'docs/from-another-flux.md')?.fences ?? [])
    .filter(({ language }) => language === 'yaml')
    .map(({ text, section }) => [section, parse(text)] as const);

  it.each(manifests)('the page about coming from another Flux, %s', async (_section, manifest) => {
    const option = options[manifest.kind] ?? '';
    expect(await run('validate', option, manifest)).toEqual(ok);
    const out = expect.stringContaining('source-controller');
    expect(await run('render', option, manifest)).toMatchObject({ code: 0, out });
  });
});

describe('source.gitRepository and source.ociRepository', () => {
  const of = (source: object) => effectiveConfig({ providerConfig: config('v2.6.1', source, folder) });

  it('mean the source itself, and are named in errors and origins', () => {
    const { kind: _, ...withoutKind } = git;
    for (const template of [git, withoutKind]) {
      expect(of({ gitRepository: { template } }).source).toEqual(of({ template: git }).source);
    }
    expect(of({ gitRepository: { template: git } }).origins.source).toEqual({
      object: 'providerConfig',
      path: 'source.gitRepository.template',
    });
    expect(() => of({ gitRepository: { template: { ...git, spec: { url: 'x' } } } })).toThrow(
      'providerConfig: source.gitRepository.template.spec.url "x"',
    );
  });

  it.each([
    { gitRepository: { template: git }, template: git },
    { gitRepository: { template: git }, ociRepository: { template: oci } },
    { gitRepository: 'x' },
  ])('stand alone: %o', (source) => {
    expect(() => of(source)).toThrow(
      'source.gitRepository is not a known key; known keys are template, secretResourceName',
    );
  });
});
