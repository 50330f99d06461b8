import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { SEED } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import type { RunningProgram } from '../cluster/process.ts';
import { requestJson } from '../cluster/request.ts';
import { startContainer } from './container.ts';
import { installAsGardener, seedHost } from './gardenlet.ts';
import { INSTALLATION } from './gardenlet-values.ts';
import { applyObjects, deleteObjects, listObjects, serviceAccountToken } from './objects.ts';
import { installOptionalKinds, installRegistrationKinds } from './optional-kinds.ts';
import type { Registry } from './registry.ts';
import type { Workplace } from './workplace.ts';

const host = seedHost(SEED);
/** The identity in the garden, for which the chart asks. */
const gardenAccount = { namespace: host.namespace, name: 'shoot-flux' };
const namespaceOf = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

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
  await installRegistrationKinds(garden);
  await installOptionalKinds(seed);
  let objects: KubeObject[] = [];
  let pod: RunningProgram | undefined;
  let images: string[] = [];
  const stop = async () => {
    await pod?.stop();
    pod = undefined;
    images = [];
  };
  return {
    async install() {
      const deployment = await registered(garden);
      objects = await render(workplace, deployment);
      await applyObjects(seed, ['garden', INSTALLATION].map(namespaceOf));
      await installAsGardener({ garden, seed }, host, objects);
      const { image, start } = podOf(objects);
      const folder = join(workplace.folder, image.replaceAll(/\W/g, '-'));
      const name = image.replace(/^[^/]+/, registry.host);
      await registry.unpack(name, folder);
      const next = await start({ root: folder, ...(await registry.inspect(name)) }, apis, workplace);
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
  const documents = parseAllDocuments(text).map((document) => document.toJS() as KubeObject | null);
  return documents.filter((object) => object !== null);
}

/** Returns the Pod of the main Deployment. */
function podOf(objects: KubeObject[]) {
  const config = objects.find(({ kind }) => kind === 'ConfigMap')?.data as Record<string, string>;
  const deployment = objects.find(({ kind }) => kind === 'Deployment')?.spec as Deployment;
  const { serviceAccountName, containers } = deployment.template.spec;
  const [{ image, args }] = containers;
  return {
    image,
    /** Starts the container, with what a kubelet would mount. */
    async start(unpacked: Unpacked, { servers: { garden, seed } }: RealApis, { folder }: Workplace) {
      const file = join(folder, 'gardenlet/config.yaml');
      await writeFile(file, config['config.yaml'] ?? '');
      const account = { namespace: INSTALLATION, name: serviceAccountName };
      const mounts = {
        '/mnt/config.yaml': file,
        '/mnt/garden': await kubeconfigFile(garden, gardenAccount),
        '/mnt/seed': await kubeconfigFile(seed, account),
      };
      const given = args.map((arg) => arg.replace('/etc/shoot-flux/', '/mnt/'));
      return startContainer({
        ...unpacked,
        args: [...given, '--seed', `${SEED}=/mnt/seed`, '--port', '0'],
        env: { GARDEN_KUBECONFIG: '/mnt/garden', SEED_NAME: SEED },
        mounts,
      });
    },
  };
}

type Unpacked = Pick<Parameters<typeof startContainer>[0], 'root' | 'config'>;

interface Deployment {
  template: { spec: { serviceAccountName: string; containers: [{ image: string; args: string[] }] } };
}

async function kubeconfigFile(server: ApiServer, { namespace, name }: { namespace: string; name: string }) {
  return server.kubeconfigFile(await serviceAccountToken(server, namespace, name));
}
