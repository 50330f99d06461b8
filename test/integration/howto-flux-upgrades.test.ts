import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shootFlux } from '../../infra/cli/testing.ts';
import { documented, example, root } from './documents.ts';

const validate = documented(
  'docs/howto/flux-upgrades.md',
  'npm run --silent shoot-flux -- validate --flux-distribution ./distribution --flux-config flux-config.yaml --upgrade-from v2.8.8',
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flux-upgrades-'));
  const standIn = join(standInDistribution.folder, standInDistribution.version);
  await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
  await writeFile(join(folder, 'flux-config.yaml'), example('docs/howto/flux-upgrades.md', 'ConfigMap'));
});
afterAll(() => rm(folder, { recursive: true }));

test('the page shows what an upgrade changes', () => {
  // npm starts this program in the folder of the checkout; here it starts beside the files.
  const line = validate.replace('npm run --silent shoot-flux --', `node ${join(root, 'infra/cli/shoot-flux.js')}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  const warnings = stderr.trimEnd().split('\n');
  expect(warnings.length).toBeGreaterThan(2);
  for (const warning of warnings) expect(warning).toMatch(/^warning: From Flux v2\.9\.0 on .+; .+\.$/);
});

test('a Shoot whose components are removed is warned with the names of the CustomResourceDefinitions', async () => {
  const file = join(folder, 'provider-config.yaml');
  await writeFile(file, example('docs/howto/flux-upgrades.md', 'FluxConfig'));
  const args = ['validate', '--flux-distribution', join(folder, 'distribution'), '--provider-config', file];
  const { code, out, err } = await shootFlux(args);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err).toMatch(/^warning: .*helmreleases\.helm\.toolkit\.fluxcd\.io/);
  expect(err).not.toContain('kustomizations.kustomize.toolkit.fluxcd.io');
});
