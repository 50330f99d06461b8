import { type Connection, createKubeClient, type KubeObject, type Resource, resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import { startInformer } from '../controllers/informer.ts';
import { type Controller, createWorkQueue, nameOf, objectText } from '../controllers/work-queue.ts';
import type { ControlPlanes } from '../gardenlet/gardenlet.ts';
import { defaultTargetNamespaces, startResourceManager } from '../resource-manager/start.ts';
import { type NodesOptions, startNodes } from './nodes.ts';

/** The API servers of all shoots. Their objects survive hibernation and a move to another seed. */
export interface Shoots {
  get(technicalId: string): Cluster | undefined;
  ensure(technicalId: string): Promise<Cluster>;
  remove(technicalId: string): Promise<void>;
  /** Makes the API unreachable, or reachable again. */
  setReachable(technicalId: string, reachable: boolean): void;
  stop(): Promise<void>;
}

export function createShoots(): Shoots {
  const clusters = new Map<string, Promise<Cluster>>();
  const known = new Map<string, Cluster>();
  const unreachable = new Map<string, () => void>();
  return {
    get: (id) => known.get(id),
    ensure(id) {
      const starting = clusters.get(id) ?? startCluster([], { namespaceController: true });
      clusters.set(id, starting);
      return starting.then((cluster) => {
        known.set(id, cluster);
        return cluster;
      });
    },
    async remove(id) {
      const cluster = clusters.get(id);
      clusters.delete(id);
      known.delete(id);
      unreachable.delete(id);
      await (await cluster)?.stop();
    },
    setReachable(id, reachable) {
      const restore = unreachable.get(id);
      const api = known.get(id)?.api;
      if (reachable) {
        restore?.();
        unreachable.delete(id);
      } else if (api !== undefined && restore === undefined) {
        unreachable.set(id, api.faults.add({ action: 'reset', match: {}, times: Number.POSITIVE_INFINITY }));
        api.breakConnections();
      }
    },
    async stop() {
      await Promise.all([...clusters.values()].map(async (cluster) => (await cluster).stop()));
    },
  };
}

export interface ControlPlanesOptions {
  seed: Connection;
  seedClient: Cluster['client'];
  shoots: Shoots;
  /** Programs and callbacks for the nodes of a shoot. */
  nodes(technicalId: string): NodesOptions;
  pendingMs?: number;
}

interface Running {
  manager?: Controller;
  collector?: Controller;
  nodes?: Controller;
}

/** API server, resource-manager, garbage collector and nodes of the shoots of one seed. */
export function createControlPlanes({
  seed,
  seedClient,
  shoots,
  ...options
}: ControlPlanesOptions): ControlPlanes & Controller {
  const running = new Map<string, Running>();
  const of = (id: string) => {
    const known = running.get(id) ?? {};
    running.set(id, known);
    return known;
  };
  const stopParts = async (id: string, parts: readonly (keyof Running)[]) => {
    const entry = of(id);
    for (const part of parts) {
      const controller = entry[part];
      delete entry[part];
      await controller?.stop();
    }
  };

  let stopped = false;
  const starting = new Set<Promise<unknown>>();
  /** Lets `stop` wait for what is being started, so that nothing begins after it and runs forever. */
  const start = <T>(work: () => Promise<T>): Promise<T> => {
    if (stopped) return Promise.reject(new Error('The seed was stopped.'));
    const started = work();
    starting.add(started);
    return started.finally(() => starting.delete(started));
  };

  const removeNodes = (id: string) => stopParts(id, ['nodes']);
  const stopAll = (id: string) => stopParts(id, ['nodes', 'manager', 'collector']);

  return {
    wake: (id) =>
      start(async () => {
        const cluster = await shoots.ensure(id);
        shoots.setReachable(id, true);
        const entry = of(id);
        entry.collector ??= await startGarbageCollector(cluster.connection);
        entry.manager ??= await startDeployedResourceManager(id, cluster.connection, { seed, seedClient, ...options });
        return { access: { internal: cluster.kubeconfig, external: cluster.kubeconfig }, client: cluster.client };
      }),
    async sleep(id) {
      await stopAll(id);
      shoots.setReachable(id, false);
    },
    joinNodes: (id) =>
      start(async () => {
        const cluster = await shoots.ensure(id);
        of(id).nodes ??= await startNodes(cluster.connection, options.nodes(id));
      }),
    removeNodes,
    async remove(id) {
      await stopAll(id);
      running.delete(id);
      await shoots.remove(id);
    },
    async stop() {
      stopped = true;
      await Promise.allSettled(starting);
      await Promise.all([...running.keys()].map(stopAll));
    },
  };
}

/** Runs the resource-manager that its Deployment describes; it restarts when the arguments change. */
async function startDeployedResourceManager(
  namespace: string,
  target: Connection,
  { seed, seedClient, pendingMs }: Pick<ControlPlanesOptions, 'seed' | 'seedClient' | 'pendingMs'>,
): Promise<Controller> {
  const stopping = new AbortController();
  let args = '';
  let manager: Promise<Controller> | undefined;
  const restart = (namespaces: string[]) => {
    const old = manager;
    const start = () =>
      startResourceManager({
        source: seed,
        target,
        namespace,
        targetNamespaces: [...defaultTargetNamespaces, ...namespaces],
        ...(pendingMs === undefined ? {} : { pendingMs }),
      });
    manager = old === undefined ? start() : old.then((controller) => controller.stop()).then(start);
  };
  const follow = (deployment: KubeObject) => {
    if (deployment.metadata.name !== 'gardener-resource-manager') return;
    const namespaces = extraTargetNamespaces(deployment);
    if (manager !== undefined && args === namespaces.join()) return;
    args = namespaces.join();
    restart(namespaces);
  };
  const informer = startInformer(
    seedClient,
    resources.deployments,
    { namespace, signal: stopping.signal },
    { onChange: follow },
  );
  await informer.synced;
  await manager;
  return {
    async stop() {
      stopping.abort();
      await informer.stopped;
      await (await manager)?.stop();
    },
  };
}

interface PodSpec {
  template?: { spec?: { containers?: { args?: string[] }[] } };
}

function extraTargetNamespaces({ spec }: KubeObject): string[] {
  const args = (spec as PodSpec).template?.spec?.containers?.flatMap((container) => container.args ?? []) ?? [];
  return args.flatMap((arg) => /^--extra-target-namespace=(.+)$/.exec(arg)?.[1] ?? []);
}

const FOREGROUND = 'foregroundDeletion';

/**
 * Does the part of kube-controller-manager that removes the finalizer of foreground deletion. No object in the landscape
 * has dependents that must be deleted first.
 */
export async function startGarbageCollector(connection: Connection): Promise<Controller> {
  const stopping = new AbortController();
  const client = createKubeClient(connection, { userAgent: 'kube-controller-manager', timeoutMs: 30_000 });

  const collect = (resource: Resource) => {
    const queue = createWorkQueue({
      async reconcile(key) {
        const found = await client.find(resource, nameOf(key));
        if (found === undefined || !isWaiting(found)) return undefined;
        const finalizers = found.metadata.finalizers?.filter((finalizer) => finalizer !== FOREGROUND);
        const patch = { metadata: { finalizers, resourceVersion: found.metadata.resourceVersion } };
        await client.mergePatch(resource, nameOf(key), patch, { fieldManager: 'kube-controller-manager' });
        return undefined;
      },
    });
    const options = { signal: stopping.signal };
    const informer = startInformer(client, resource, options, {
      onChange: (object) => {
        if (isWaiting(object)) queue.add(objectText(object.metadata));
      },
    });
    return { queue, informer };
  };

  const batch = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };
  const apps = (plural: string, kind: string) => ({ group: 'apps', version: 'v1', plural, kind, namespaced: true });
  const kinds = [resources.deployments, apps('statefulsets', 'StatefulSet'), apps('daemonsets', 'DaemonSet'), batch];
  const collectors = kinds.map(collect);
  return {
    async stop() {
      stopping.abort();
      await Promise.all(collectors.map(({ queue }) => queue.stop()));
      await Promise.all(collectors.map(({ informer }) => informer.stopped));
      client.close();
    },
  };
}

function isWaiting({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
}
