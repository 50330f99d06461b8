import type { Connection } from '../client/client.ts';
import { type Cluster, startCluster } from '../cluster.ts';
import type { Controller } from '../controllers/work-queue.ts';
import { EXTRA_TARGET_NAMESPACE } from '../gardenlet/control-plane.ts';
import type { ControlPlanes } from '../gardenlet/gardenlet.ts';
import { defaultTargetNamespaces, startResourceManager } from '../resource-manager/start.ts';
import { type NodesOptions, startNodes } from './nodes.ts';

export type Shoots = ReturnType<typeof createShoots>;

/** The API servers of all shoots. Their objects survive hibernation and a move to another seed. */
export function createShoots() {
  const clusters = new Map<string, Promise<Cluster>>();
  const known = new Map<string, Cluster>();
  const unreachable = new Map<string, () => void>();
  return {
    get: (id: string) => known.get(id),
    ensure(id: string) {
      const starting = clusters.get(id) ?? startCluster([], { namespaceController: true, garbageCollector: true });
      clusters.set(id, starting);
      return starting.then((cluster) => {
        known.set(id, cluster);
        return cluster;
      });
    },
    async remove(id: string) {
      const cluster = clusters.get(id);
      clusters.delete(id);
      known.delete(id);
      unreachable.delete(id);
      await (await cluster)?.stop();
    },
    /** Makes the API unreachable, or reachable again. */
    setReachable(id: string, reachable: boolean) {
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
  shoots: Shoots;
  /** Programs and callbacks for the nodes of a shoot. */
  nodes: NodesOptions;
  pendingMs?: number;
}

interface Running {
  manager?: Controller;
  nodes?: Controller;
}

/** API server, resource-manager and nodes of the shoots of one seed. */
export function createControlPlanes({
  seed,
  shoots,
  nodes,
  pendingMs,
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
  const stopAll = (id: string) => stopParts(id, ['nodes', 'manager']);

  return {
    wake: (id) =>
      start(async () => {
        const cluster = await shoots.ensure(id);
        shoots.setReachable(id, true);
        const entry = of(id);
        entry.manager ??= await startResourceManager({
          ...{ source: seed, target: cluster.connection, namespace: id },
          targetNamespaces: [...defaultTargetNamespaces, EXTRA_TARGET_NAMESPACE],
          ...(pendingMs === undefined ? {} : { pendingMs }),
        });
        return { kubeconfig: cluster.kubeconfig, client: cluster.client };
      }),
    async sleep(id) {
      await stopAll(id);
      shoots.setReachable(id, false);
    },
    joinNodes: (id) =>
      start(async () => {
        const cluster = await shoots.ensure(id);
        of(id).nodes ??= await startNodes(cluster.connection, nodes);
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
