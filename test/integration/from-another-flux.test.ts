import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { shootFlux } from '../../infra/cli/testing.ts';
import { standIn } from '../../shared/flux/testing.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/from-another-flux.md'), 'utf8');
/** The manifests of the page, with the release of the stand-in. */
const manifests = [...page.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```/gm)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), '').replaceAll('v2.9.4', standIn.version),
);

describe('the page about coming from another Flux', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'from-another-flux-'));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(manifests)('the manifest is valid: %s', async (text) => {
    const file = join(folder, 'manifest.yaml');
    writeFileSync(file, text);
    const args = ['--flux-distribution', standIn.folder, '--provider-config', file];
    expect(await shootFlux(['validate', ...args])).toEqual({ code: 0, out: '', err: '' });
    expect(await shootFlux(['render', ...args])).toMatchObject({
      code: 0,
      out: expect.stringContaining('source-controller'),
    });
  });

  const run = async (command: string, document: object, option: string) => {
    const file = join(folder, 'other.json');
    writeFileSync(file, JSON.stringify(document));
    return shootFlux([command, '--flux-distribution', standIn.folder, option, file]);
  };
  const ofProject = (data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'flux-config', namespace: 'garden-testing' },
    data: {
      repositoryUrl: 'ssh://git@github.com/THE-OWNER/THE-REPO',
      repositoryBranch: 'main',
      repositoryType: 'private',
      ...data,
    },
  });
  const ofShoot = (template: object) => ({
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    source: { template },
    kustomization: { template: { spec: { path: 'clusters/production/flux-system' } } },
  });

  it('is right about a ConfigMap of 23technologies that names no release, and about releases before 2.0', async () => {
    expect(await run('validate', ofProject({}), '--flux-config')).toEqual({ code: 0, out: '', err: '' });
    for (const fluxVersion of ['v0.29.5', '0.29.5']) {
      const { code, out } = await run('validate', ofProject({ fluxVersion }), '--flux-config');
      expect(code).toBe(1);
      expect(out.trimEnd().split('\n')).toEqual([
        expect.stringContaining(`fluxVersion "${fluxVersion}" is a Flux version before 2.0`),
      ]);
    }
  });

  it("is right about the sources of stackitcloud's extension, also in API versions of their time", async () => {
    const sources = [
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1',
        kind: 'GitRepository',
        spec: { url: 'https://git.example/a', ref: { branch: 'main' } },
      },
      {
        apiVersion: 'source.toolkit.fluxcd.io/v1beta2',
        kind: 'OCIRepository',
        spec: { url: 'oci://ghcr.io/example/manifests', ref: { tag: 'latest' } },
      },
    ];
    for (const source of sources) {
      const { code, out } = await run('render', ofShoot(source), '--provider-config');
      expect(code).toBe(0);
      const { kind } = source;
      const rendered = out.split('---\n').map((text) => parse(text.replace(/^#.*$/gm, '')));
      const ofFlux = rendered.filter((object) => [kind, 'Kustomization'].includes(object?.kind));
      expect(ofFlux.map(({ apiVersion, metadata }) => [apiVersion, metadata.namespace, metadata.name])).toEqual([
        ['source.toolkit.fluxcd.io/v1', 'flux-system', 'flux-system'],
        ['kustomize.toolkit.fluxcd.io/v1', 'flux-system', 'flux-system'],
      ]);
    }
  });
});
