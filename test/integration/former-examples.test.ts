import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { standIn } from '../../shared/flux/testing.ts';

/** A landscape that has the releases which the examples name. */
const distribution = mkdtempSync(join(tmpdir(), 'former-examples-'));
for (const version of ['v2.1.2', 'v2.3.0', 'v2.6.1']) {
  await cp(join(standIn.folder, standIn.version), join(distribution, version), { recursive: true });
}
afterAll(() => rmSync(distribution, { recursive: true, force: true }));

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
const config = (version: string, source: object, path: string, more: object = {}) => ({
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  flux: { version, registry: 'ghcr.io/fluxcd', namespace: 'flux-system' },
  source,
  kustomization: { template: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', spec: { path } } },
  ...more,
});
const folder = 'clusters/production';
const secret = (name: string, original: string) => ({
  name,
  resourceRef: { apiVersion: 'v1', kind: 'Secret', name: original },
});
const resources = [
  secret('flux-ssh-secret', 'my-project-secret'),
  secret('shoot-vault-secret', 'project-vault-secret'),
];
const private_ = {
  template: { ...git, spec: { ...git.spec, secretRef: { name: 'flux-system' } } },
  secretResourceName: 'flux-ssh-secret',
};
const additionalSecretResources = [{ name: 'shoot-vault-secret', targetName: 'vault' }];

/** The examples of both extensions, field by field: of Shoots, of Extensions, and of their READMEs. */
const examples: [string, object, string][] = [
  ['the Shoot of 23technologies', config('v2.3.0', { template: git }, folder), 'GitRepository'],
  ['the Shoot of stackitcloud', config('v2.6.1', { template: git }, folder), 'GitRepository'],
  [
    'its Shoot with the commented lines',
    config('v2.6.1', private_, folder, { additionalSecretResources }),
    'GitRepository',
  ],
  ['the Extension of 23technologies', config('v2.1.2', { template: git }, `${folder}/flux-system`), 'GitRepository'],
  [
    'the Extension of stackitcloud',
    config('v2.1.2', { gitRepository: { template: git } }, `${folder}/flux-system`),
    'GitRepository',
  ],
  ['its Extension with credentials', config('v2.1.2', { gitRepository: private_ }, folder), 'GitRepository'],
  [
    'its Extension with an artifact',
    config('v2.1.2', { ociRepository: { template: semver } }, folder),
    'OCIRepository',
  ],
  [
    'Git in the README',
    config('v2.6.1', { template: git, secretResourceName: 'flux-ssh-secret' }, folder),
    'GitRepository',
  ],
  [
    'an artifact in the README',
    config('v2.6.1', { template: oci, secretResourceName: 'flux-ssh-secret' }, folder),
    'OCIRepository',
  ],
];

describe('an example of a former extension works unchanged', () => {
  it.each(examples)('%s', async (_what, providerConfig, kind) => {
    const shoot = {
      ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
      metadata: { name: 'flux', namespace: 'garden-local' },
      spec: { extensions: [{ type: 'shoot-flux', providerConfig }], resources, region: 'local' },
    };
    await using input = await files({ shoot: stringify(shoot) });
    const args = ['--flux-distribution', distribution, '--shoot', input.paths.shoot];
    expect(await shootFlux(['validate', ...args])).toEqual({ code: 0, out: '', err: '' });
    const { code, out } = await shootFlux(['render', ...args, '--json']);
    expect(code).toBe(0);
    const { items } = parse(out) as { items: { kind: string; metadata: { name: string; namespace: string } }[] };
    const names = items
      .filter((item) => ['Kustomization', kind].includes(item.kind))
      .map((item) => [item.kind, item.metadata]);
    expect(names).toEqual([
      [kind, expect.objectContaining({ name: 'flux-system', namespace: 'flux-system' })],
      ['Kustomization', expect.objectContaining({ name: 'flux-system', namespace: 'flux-system' })],
    ]);
  });

  it('the ConfigMap of 23technologies, apart from a Flux before 2.0', async () => {
    const data = {
      repositoryUrl: 'ssh://git@github.com/THE-OWNER/THE-REPO',
      ...{ repositoryBranch: 'main', repositoryType: 'private' },
    };
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'flux-config', namespace: 'garden-testing' },
      data,
    };
    await using input = await files({ map });
    const args = ['validate', '--flux-distribution', distribution, '--flux-config', input.paths.map];
    expect(await shootFlux(args)).toEqual({ code: 0, out: '', err: '' });
  });
});

describe('source.gitRepository and source.ociRepository', () => {
  const of = (source: object) => effectiveConfig({ providerConfig: config('v2.6.1', source, folder) });
  const problem = (source: object) => {
    try {
      of(source);
      return 'none';
    } catch (error) {
      return String(error);
    }
  };

  it('mean the source itself, and are named in errors and origins', () => {
    expect(of({ gitRepository: { template: git } }).source).toEqual(of({ template: git }).source);
    const { kind: _, ...withoutKind } = git;
    expect(of({ gitRepository: { template: withoutKind } }).source).toEqual(of({ template: git }).source);
    expect(of({ gitRepository: { template: git } }).origins.source).toEqual({
      object: 'providerConfig',
      path: 'source.gitRepository.template',
    });
    expect(problem({ gitRepository: { template: { ...git, spec: { url: 'x' } } } })).toContain(
      'providerConfig: source.gitRepository.template.spec.url "x"',
    );
  });

  it('stand alone', () => {
    expect(problem({ gitRepository: { template: git }, template: git })).toContain(
      'source.gitRepository is not a known key; known keys are template, secretResourceName',
    );
    expect(problem({ gitRepository: { template: git }, ociRepository: { template: oci } })).toContain(
      'is not a known key',
    );
    expect(problem({ gitRepository: 'x' })).toContain('is not a known key');
  });
});
