import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { SEED } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { requestJson } from '../cluster/request.ts';
import { installAsGardener, seedHost } from './gardenlet.ts';
import { INSTALLATION } from './gardenlet-values.ts';
import { objectsIn } from './helm.ts';
import { applyObjects, deleteObjects, listObjects, namespaceOf, optionalKinds, registrationKinds } from './objects.ts';
import { type Pod, startPod } from './pod.ts';

import type { Registry } from './registry.ts';
import type { Workplace } from './workplace.ts';

const host = seedHost(SEED);

interface Deployment {
  template: { spec: { containers: [{ image: string }] } };
}

/** Stands in for Gardener, as far as it installs an extension in a seed: no part of it can run here. */
export interface Installer {
  /** Installs what the ControllerDeployment in the garden names, in place of what was installed before. */
  install(): Promise<void>;
  /** Removes the chart from the seed. */
  uninstall(): Promise<void>;
  /** The images of the Pods that run. */
  images(): string[];
  /** The last lines of the Pod's log. */
  output(): Promise<string>;
}

/**
 * @param workplace its Helm pulls the chart
 * @param registry has the image
 */
export async function startInstaller(apis: RealApis, workplace: Workplace, registry: Registry): Promise<Installer> {
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
