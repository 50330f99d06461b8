import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { followPage } from '../../integration/followed-page.ts';
import { PROJECT, SEED, type Stage } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { requestJson } from '../cluster/request.ts';
import { onRealApis } from '../on-real-apis.ts';
import { makeBuildPlace, REGISTRY } from './build-place.ts';
import { INSTALLATION, installAsGardener, seedHost } from './gardenlet.ts';
import { objectsIn } from './helm.ts';
import { applyObjects, deleteObjects, listObjects, namespaceOf, optionalKinds, registrationKinds } from './objects.ts';
import { type Pod, startPod } from './pod.ts';
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
    await stage.leave();
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
    // The namespace is there, with the rights of other suites.
    const here = (text: string) =>
      shell(`export KUBECONFIG=$PWD/${SEED}.kubeconfig\n${text.replace('kubectl create namespace shoot-flux\n', '')}`);
    await page.block('Without gardenlet', 1).run(here);
    expect(await deployments()).toContain('shoot-flux');
    await page.block('Without gardenlet', 2).run(here);
    expect(await deployments()).toEqual([]);
  });
});

function withNames(text: string): string {
  return text.replaceAll('my-seed', SEED).replaceAll('garden-my-project', PROJECT);
}

const host = seedHost(SEED);

interface Deployment {
  template: { spec: { containers: [{ image: string }] } };
}

/** Stands in for Gardener, as far as it installs an extension in a seed: no part of it can run here. */
type Installer = Awaited<ReturnType<typeof startInstaller>>;

/**
 * @param workplace its Helm pulls the chart
 * @param registry has the image
 */
async function startInstaller(apis: RealApis, workplace: Workplace, registry: Registry) {
  const { garden, seed } = apis.servers;
  await installCrds(garden, [registrationKinds]);
  await installCrds(seed, [optionalKinds]);
  let objects: KubeObject[] = [];
  let pod: Pod | undefined;
  let images: string[] = [];
  const stop = async () => {
    await pod?.stop();
    pod = undefined;
    images = [];
  };
  return {
    async install() {
      const rendered = await render(workplace, await registered(garden));
      await applyObjects(seed, [namespaceOf('garden'), namespaceOf(INSTALLATION)]);
      ({ objects } = await installAsGardener({ garden, seed }, host, rendered));
      const deployment = objects.find(({ kind }) => kind === 'Deployment') as KubeObject & { spec: Deployment };
      const [{ image }] = deployment.spec.template.spec.containers;
      const root = join(workplace.folder, image.replaceAll(/\W/g, '-'));
      const name = image.replace(/^[^/]+/, registry.host);
      await registry.unpack(name, root);
      const { config } = await registry.inspect(name);
      const next = await startPod({ deployment, cluster: seed, image: { root, config } });
      await stop();
      pod = next;
      images = [image];
    },
    async uninstall() {
      await stop();
      await deleteObjects(seed, objects);
    },
    images: () => images,
    output: async () => (await pod?.output()) ?? '',
  };
}

interface ControllerDeployment {
  helm: { ociRepository: { ref: string }; values: object };
  injectGardenKubeconfig: boolean;
}

/** Reads what a ControllerRegistration for our type names. */
async function registered(garden: ApiServer): Promise<ControllerDeployment> {
  const registrations = await listObjects(garden, 'controllerregistrations');
  const spec = registrations.map((registration) => registration.spec as RegistrationSpec);
  const found = spec.find(({ resources }) => resources.some(({ type }) => type === 'shoot-flux'));
  const name = found?.deployment.deploymentRefs[0]?.name;
  const path = `/apis/core.gardener.cloud/v1/controllerdeployments/${name}`;
  const deployment = (await requestJson(garden, 'GET', path)) as ControllerDeployment;
  if (!deployment.injectGardenKubeconfig) throw new Error('The Pods would have no kubeconfig of the garden.');
  return deployment;
}

interface RegistrationSpec {
  deployment: { deploymentRefs: { name: string }[] };
  resources: { type: string }[];
}

/** Renders the chart in the registry as gardenlet does. */
async function render({ folder, run }: Workplace, { helm }: ControllerDeployment): Promise<KubeObject[]> {
  const [, repository, version] = /^(.*):([^:]+)$/.exec(helm.ociRepository.ref) ?? [];
  await mkdir(join(folder, 'gardenlet'), { recursive: true });
  await writeFile(join(folder, 'gardenlet/values.yaml'), JSON.stringify({ ...helm.values, ...host.values }));
  await run(`helm pull oci://${repository} --version ${version} --destination gardenlet`);
  const chart = `gardenlet/${repository?.split('/').at(-1)}-${version}.tgz`;
  const text = await run(
    `helm template shoot-flux ${chart} --namespace ${INSTALLATION} --values gardenlet/values.yaml`,
  );
  return objectsIn(text);
}
