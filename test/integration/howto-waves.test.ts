import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { PROJECT, startFleet } from '../scenarios/rollout/fleet.ts';
import { documented, example, root } from './documents.ts';

const PAGE = 'docs/howto/waves.md';
const validate = documented(
  'docs/howto/waves.md',
  'npm run --silent shoot-flux -- validate --flux-distribution ./distribution --flux-config flux-config.yaml',
);
const show = documented(
  'docs/howto/waves.md',
  'kubectl -n garden-my-project get configmap flux-status -o jsonpath={.data.Rollout}',
);
const proceed = documented(
  'docs/howto/waves.md',
  'kubectl -n garden-my-project annotate --overwrite configmap flux-config flux.extensions.gardener.cloud/continue=4f2a81c09b7e.11',
);

test('the page leads from the first wave to a paused rollout that continues', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waves-'));
  const shoots = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const labels = (shoot: string) => ({ stage: shoot === 's7' ? '1' : '2' });
  await using fleet = await startFleet({ shoots, labels });
  /** npm and kubectl start programs of this checkout. */
  const run = async (command: string) => {
    const line = command
      .replace('npm run --silent shoot-flux --', `node ${join(root, 'infra/cli/shoot-flux.js')}`)
      .replace('kubectl', `node ${join(import.meta.dirname, 'kubectl.ts')}`)
      .replace('garden-my-project', PROJECT);
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], { cwd: folder, env });
    return stdout + stderr;
  };
  try {
    await cp(join(standInDistribution.folder, standInDistribution.version), join(folder, 'distribution/v2.9.99'), {
      recursive: true,
    });
    await writeFile(join(folder, 'kubeconfig'), fleet.kubeconfig());
    await writeFile(join(folder, 'flux-config.yaml'), example(PAGE, 'ConfigMap'));
    expect(await run(validate)).toBe('');

    const { data } = parse(example(PAGE, 'ConfigMap'));
    fleet.edit(data);
    await fleet.settle();
    fleet.verdict = (_, branch) => (branch === 'next' ? 'bad' : 'ready');
    fleet.edit({ ...data, repositoryBranch: 'next' });
    await fleet.settle(100);
    // One of 20 may fail: the first one alone, and then two at the same time.
    const paused = await run(show);
    expect(paused).toMatch(/^Revision [0-9a-f]{12} is paused, because more than 1 failed: /);
    expect(fleet.state()?.failed.has('s7')).toBe(true);
    expect(fleet.state()?.failed.size).toBe(3);

    const [, token = ''] = /continue=(\S+) on flux-config/.exec(paused) ?? [];
    fleet.verdict = () => 'ready';
    await run(proceed.replace('4f2a81c09b7e.11', token));
    fleet.follow();
    await fleet.settle(1000);
    expect(new Set(fleet.branches().values())).toEqual(new Set(['next']));
    for (const shoot of fleet.state()?.failed ?? []) fleet.wake(shoot);
    await fleet.settle();
    expect(await run(show)).toMatch(/ has ended: 20 done, 0 in progress, 0 waiting, 0 failed\.$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
