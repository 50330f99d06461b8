import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../../shared/kube/resource.ts';
import type { ApiServer } from '../../cluster/api-server.ts';
import { installCrds } from '../../cluster/crds.ts';
import { freePorts } from '../../cluster/ports.ts';
import { requestJson } from '../../cluster/request.ts';
import { programFolder, type RunningProgram, startProgram, waitUntilReady } from '../../cluster/start.ts';
import { buildTools } from '../../tools/build.ts';
import { runProgram } from '../../tools/cache.ts';

const SYSTEM = 'knative-eventing';
/** The dispatcher takes no other, so all suites with a data plane are in one file: they never run at the same time. */
export const DISPATCHER_PORT = 8080;

/** Knative Eventing's broker: its ingress, its filter and the dispatcher of in-memory channels, as processes. */
export type DataPlane = Awaited<ReturnType<typeof startDataPlane>>;

/** Starts Knative's data plane beside an API server; nothing of its control plane runs. */
export async function startDataPlane(server: ApiServer) {
  const tools = await buildTools(['knative-ingress', 'knative-filter', 'knative-channel_dispatcher']);
  await installCrds(server, await eventingCrds());
  await putNamespace(server, SYSTEM);
  for (const object of await systemObjects()) await put(server, object);
  const kubeconfig = await server.kubeconfigFile();
  const [ingressPort = 0, filterPort = 0, ...others] = await freePorts(8);
  const programs: RunningProgram[] = [];
  const start = async (name: keyof typeof tools, env: Record<string, string>) => {
    const folder = await programFolder(name);
    const program = await startProgram({
      name,
      folder,
      command: tools[name],
      args: [],
      env: { ...environment(kubeconfig), METRICS_PROMETHEUS_PORT: String(others.pop()), ...env },
    });
    programs.push(program);
    return program;
  };
  const https = () => String(others.pop());
  const ingress = await start('knative-ingress', { INGRESS_PORT: String(ingressPort), INGRESS_PORT_HTTPS: https() });
  const filter = await start('knative-filter', { FILTER_PORT: String(filterPort), FILTER_PORT_HTTPS: https() });
  // With a namespace it would look at that one alone.
  const idle = { MAX_IDLE_CONNS: '1000', MAX_IDLE_CONNS_PER_HOST: '100' };
  const dispatcher = await start('knative-channel_dispatcher', { NAMESPACE: '', ...idle });
  await waitUntilReady('broker ingress', ingress, () => listens(ingressPort));
  await waitUntilReady('broker filter', filter, () => listens(filterPort));
  await waitUntilReady('channel dispatcher', dispatcher, () => listens(DISPATCHER_PORT));
  return {
    server,
    ingressPort,
    filterPort,
    output: async () => (await Promise.all(programs.map((program) => program.output()))).join('\n'),
    async [Symbol.asyncDispose]() {
      await Promise.all(programs.map((program) => program.stop()));
    },
  };
}

/** Applies an object as the administrator. */
export async function put(server: ApiServer, object: KubeObject, subresource = ''): Promise<KubeObject> {
  return (await requestJson(
    server,
    'PATCH',
    `${pathOf(object)}${subresource}?fieldManager=knative&force=true`,
    object,
  )) as KubeObject;
}

export function putNamespace(server: ApiServer, name: string): Promise<KubeObject> {
  return put(server, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

function pathOf({ apiVersion, kind, metadata: { namespace, name } }: KubeObject): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural.toLowerCase()}/${name}`;
}

function environment(kubeconfig: string): Record<string, string> {
  return {
    KUBECONFIG: kubeconfig,
    SYSTEM_NAMESPACE: SYSTEM,
    NAMESPACE: SYSTEM,
    POD_NAME: 'p',
    CONTAINER_NAME: 'c',
    CONFIG_LOGGING_NAME: 'config-logging',
    CONFIG_OBSERVABILITY_NAME: 'config-observability',
    CONFIG_LEADERELECTION_NAME: 'config-leader-election',
    METRICS_DOMAIN: 'knative.dev/x',
  };
}

async function listens(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}

async function systemObjects(): Promise<KubeObject[]> {
  const module = await moduleFolder('eventing');
  const core = ['features', 'leader-election', 'logging', 'observability', 'tracing', 'kreference-mapping'];
  const files = [
    ...core.map((name) => join(module, 'config/core/configmaps', `${name}.yaml`)),
    join(module, 'config/channels/in-memory-channel/configmaps/event-dispatcher.yaml'),
  ];
  const documents = await Promise.all(files.map(async (file) => parseAllDocuments(await readFile(file, 'utf8'))));
  return documents.flat().flatMap((document) => (document.toJS() === null ? [] : [document.toJS() as KubeObject]));
}

const toolFolders = join(import.meta.dirname, '../../tools');

/** The go.mod that names the version of each module. */
const homes = { eventing: 'knative', serving: 'knative-crds' };

/** Returns the folder of a module's sources, which hold its CRDs and the ConfigMaps of its system. */
async function moduleFolder(name: keyof typeof homes): Promise<string> {
  const args = ['mod', 'download', '-json', `knative.dev/${name}`];
  return JSON.parse(await runProgram('go', args, join(toolFolders, homes[name]), { GOWORK: 'off' })).Dir;
}

/** Returns the files of the CRDs of Knative Eventing with its in-memory channel. */
export async function eventingCrds(): Promise<string[]> {
  const module = await moduleFolder('eventing');
  const core = ['broker', 'trigger', 'eventpolicy', 'eventtype', 'subscription', 'channel', 'sinkbindings'];
  return [
    ...core.map((name) => join(module, 'config/core/resources', `${name}.yaml`)),
    join(module, 'config/channels/in-memory-channel/resources/in-memory-channel.yaml'),
  ];
}

/** Returns the file of the CRD of Knative Services. */
export async function servingCrds(): Promise<string[]> {
  return [join(await moduleFolder('serving'), 'config/core/300-resources/service.yaml')];
}
