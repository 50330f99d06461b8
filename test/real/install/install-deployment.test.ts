import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { followPage } from '../../integration/followed-page.ts';
import { PROJECT, SEED, type Stage } from '../../scenarios/stage.ts';
import { onRealApis } from '../on-real-apis.ts';
import { makeBuildPlace, REGISTRY } from './build-place.ts';
import { type Installer, startInstaller } from './installation.ts';
import { untilGone } from './life-checks.ts';
import { listObjects } from './objects.ts';
import { bringPodinfo } from './podinfo.ts';
import { type Registry, startRegistry } from './registry.ts';
import type { Workplace } from './workplace.ts';

/** A stand-in for gardenlet installs the chart, and starts the container of the image: both come from the registry. */
onRealApis('docs/install-deployment.md, followed from an empty folder', ({ apis, startStage }) => {
  const page = followPage('docs/install-deployment.md');
  const firstShoot = followPage('docs/first-shoot.md');
  let registry: Registry;
  let workplace: Workplace;
  let installer: Installer;
  let stage: Stage;

  beforeAll(async () => {
    registry = await startRegistry();
    workplace = await makeBuildPlace(registry, { release: testData('flux', 'v2.9.4') });
    installer = await startInstaller(apis(), workplace, registry);
    stage = await startStage();
    const { garden, seed, shoot } = apis().servers;
    for (const [name, server] of Object.entries({ garden, [SEED]: seed, 'my-shoot': shoot }))
      await writeFile(join(workplace.folder, `${name}.kubeconfig`), server.kubeconfig());
    await writeFile(join(workplace.folder, 'values.yaml'), page.yaml('Push the chart'));
  });
  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    await installer?.uninstall().catch(() => {});
    await registry?.[Symbol.asyncDispose]();
    await workplace?.remove();
  });

  /** Runs commands as they stand, with the names of this landscape. */
  const shell = (text: string) => workplace.run(withNames(text));

  it('pushes the image and the chart, and registers them', async () => {
    await page.follow('Build the image', shell);
    expect(await page.follow('Push the chart', shell)).toContain('0 chart(s) failed');
    await page.follow('Register it', shell);
    await installer.install();
    expect(installer.images()).toEqual([`${REGISTRY}/shoot-flux:0.1.0`]);
    expect(await page.block('The first Shoot').run(shell)).toContain('shoot-flux');
    expect(await page.follow('Change the values', shell)).toContain(`${SEED}: in-cluster`);
  });

  it('brings podinfo into a Shoot', async () => {
    await bringPodinfo(firstShoot, stage, workplace, shell).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await installer.output()}`, { cause: error });
    });
  });

  it('is upgraded, and serves the Shoot as before', async () => {
    await page.follow('Upgrade', shell);
    await installer.install();
    expect(installer.images()).toEqual([`${REGISTRY}/shoot-flux:0.2.0`]);
    await stage.reconcileShoot();
    await stage.untilReady();
  });

  it('is removed', async () => {
    await stage.deleteExtension();
    await untilGone(stage);
    expect(await stage.managedResources()).toEqual({});
    await installer.uninstall();
    await page.follow('Remove', shell);
    for (const kind of ['controllerregistrations', 'controllerdeployments'])
      expect(await listObjects(apis().servers.garden, kind)).toEqual([]);
    expect(await listObjects(apis().servers.garden, 'serviceaccounts', `seed-${SEED}`)).toEqual([]);
    const roles = await listObjects(apis().servers.garden, 'clusterroles');
    expect(roles.filter(({ metadata }) => metadata.name.includes('installation'))).toEqual([]);
  });

  it('runs without gardenlet, too', async () => {
    const deployments = async () =>
      (await listObjects(apis().servers.seed, 'deployments', 'shoot-flux')).map(({ metadata }) => metadata.name);
    const here = (text: string) => shell(`export KUBECONFIG=$PWD/${SEED}.kubeconfig\n${text}`);
    await page.block('Without gardenlet', 1).run(here);
    expect(await deployments()).toContain('shoot-flux');
    await page.block('Without gardenlet', 2).run(here);
    expect(await deployments()).toEqual([]);
  });
});

function withNames(text: string): string {
  return text.replaceAll('my-seed', SEED).replaceAll('garden-my-project', PROJECT);
}
