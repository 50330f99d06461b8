import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { documented, example, root } from './documents.ts';

const PAGE = 'docs/howto/many-shoots.md';
const validate = documented(
  'docs/howto/many-shoots.md',
  'npm run --silent shoot-flux -- validate --flux-distribution ./distribution --flux-config flux-config.yaml --fleet shoots',
);
const keep = documented(
  'docs/howto/many-shoots.md',
  'npm run --silent shoot-flux -- render --flux-distribution ./distribution --flux-config flux-config.yaml --shoot shoots/dev.yaml > before.yaml',
);
const compare = documented(
  'docs/howto/many-shoots.md',
  'npm run --silent shoot-flux -- render --flux-distribution ./distribution --flux-config flux-config.yaml --shoot shoots/dev.yaml --diff before.yaml',
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'many-shoots-'));
  const standIn = join(standInDistribution.folder, standInDistribution.version);
  await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
  await mkdir(join(folder, 'shoots'));
  await writeFile(join(folder, 'flux-config.yaml'), example(PAGE, 'ConfigMap'));
  await writeFile(join(folder, 'shoots/dev.yaml'), example(PAGE, 'Shoot'));
});
afterAll(() => rm(folder, { recursive: true }));

/** npm starts this program in the folder of the checkout; here it starts beside the files. */
function run(command: string): { code: number | null; out: string } {
  const line = command.replace('npm run --silent shoot-flux --', `node ${join(root, 'infra/cli/shoot-flux.js')}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

test('the page leads from a fleet to a compared edit', async () => {
  const unselected =
    'warning: ConfigMap garden-my-project/flux-config: overrides.yaml[1].selector selects no Shoot of the fleet; correct it, unless Shoots get such labels later\n';
  expect(run(validate)).toEqual({ code: 0, out: `dev.yaml (dev): ok\n${unselected}` });
  expect(run(keep)).toEqual({ code: 0, out: '' });
  expect(await readFile(join(folder, 'before.yaml'), 'utf8')).toContain('path: ./clusters/dev/dev');
  const edited = example(PAGE, 'ConfigMap').replace('interval: 1m', 'interval: 2m');
  await writeFile(join(folder, 'flux-config.yaml'), edited);
  const { code, out } = run(compare);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^~ Kustomization flux-system\/main-ks\n {4}spec\.interval: "1m" -> "2m"\n0 added, 1 changed, 0 removed, \d+ equal\n$/,
  );
});

test('a Shoot without the label fails the check, and no other', async () => {
  await writeFile(join(folder, 'shoots/other.yaml'), example(PAGE, 'Shoot').replace('stage: dev', 'team: blue'));
  const { code, out } = run(validate);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^dev\.yaml \(dev\): ok\nother\.yaml \(dev\): ConfigMap .* the Shoot has no value for the label "stage"/,
  );
});

test('the overrides and the label for incidents do what the page says', async () => {
  const { data } = parse(example(PAGE, 'ConfigMap'));
  const fluxConfig = { namespace: 'garden-my-project', data };
  const configOf = (labels: Record<string, string>) =>
    effectiveConfig({ fluxConfig, shoot: { labels, facts: { SHOOT_NAME: 'my-shoot' } } });
  expect(configOf({ stage: 'prod' })).toMatchObject({
    suspend: false,
    flux: { logLevel: 'info' },
    kustomization: { spec: { timeout: '5m', interval: '5m', path: './clusters/prod/my-shoot', prune: true } },
  });
  expect(configOf({ stage: 'dev' })).toMatchObject({
    flux: { logLevel: 'debug' },
    kustomization: { spec: { interval: '1m' } },
  });
  expect(configOf({ stage: 'dev', frozen: '' })).toMatchObject({ suspend: true });
});
