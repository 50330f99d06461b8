import { type Connection, type KubeObject, resources } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/controller.ts';
import { startInformer } from '../controllers/informer.ts';
import type { ControlPlanes } from '../gardenlet/gardenlet.ts';
import { defaultTargetNamespaces, startResourceManager } from '../resource-manager/start.ts';
import { startGarbageCollector } from './garbage-collector.ts';
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

/** API server, resource-manager, garbage collector and nodes of the shoots of one seed. */
export interface RunningControlPlanes extends ControlPlanes {
  stop(): Promise<void>;
}

interface Running {
  manager?: Controller;
  collector?: Controller;
  nodes?: Controller;
}

export function createControlPlanes({
  seed,
  seedClient,
  shoots,
  ...options
}: ControlPlanesOptions): RunningControlPlanes {
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
