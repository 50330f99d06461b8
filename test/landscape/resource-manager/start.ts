import { type Connection, createKubeClient, type KubeObject, type Resource, resources } from '../client/client.ts';
import { createDiscovery } from '../controllers/discovery.ts';
import { type Informer, startInformer } from '../controllers/informer.ts';
import { type Controller, createWorkQueue, nameOf, objectText } from '../controllers/work-queue.ts';
import { checkHealth } from './health.ts';
import { reconcile } from './reconcile.ts';
import { annotations, type FullManagedResource, isTrue, MANAGED_BY } from './references.ts';
import { createTarget } from './target.ts';

export interface ResourceManagerOptions {
  /** The seed: where ManagedResources and their Secrets are. */
  source: Connection;
  /** The shoot: where the objects go. */
  target: Connection;
  /** Only ManagedResources of this namespace: the control plane. Default: all. */
  namespace?: string;
  /** Only ManagedResources of this class. Default: those without one, for the shoot. */
  class?: string;
  /** Namespaces in the cache: `kube-system`, `kubernetes-dashboard`, `kube-node-lease` and each `--extra-target-namespace`. */
  targetNamespaces: readonly string[];
  /** Pause while objects are still terminating. Default 5 s, as in the real one. */
  pendingMs?: number;
}

/** The namespaces of a shoot that the real one serves without further flags. */
export const defaultTargetNamespaces = ['kube-system', 'kubernetes-dashboard', 'kube-node-lease'];

/**
 * Starts the landscape's gardener-resource-manager; source and target may be any API server. Secrets are immutable, and
 * their creation does not start a pass (trap 28), so they are not watched.
 */
export async function startResourceManager(options: ResourceManagerOptions): Promise<Controller> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const clientOptions = { userAgent: 'gardener-resource-manager', timeoutMs: 30_000 };
  const source = createKubeClient(options.source, clientOptions);
  const targetClient = createKubeClient(options.target, clientOptions);
  const discovery = createDiscovery(options.target);
  const target = createTarget(targetClient, discovery, options.targetNamespaces);
  const { pendingMs = 5000 } = options;

  const passes = createWorkQueue({
    reconcile: (key) => reconcile({ source, target, syncPeriodMs: 3_600_000, pendingMs }, nameOf(key)),
  });
  const watched = watchedKinds(signal);
  const checks = createWorkQueue({
    async reconcile(key) {
      const due = await checkHealth(source, target, nameOf(key));
      return due ? 60_000 : undefined;
    },
  });

  /** Watches objects that decide about health; their origin annotation names the ManagedResource. */
  const watchKinds = async ({ status }: FullManagedResource) => {
    for (const { apiVersion, kind } of status?.resources ?? []) {
      const resource = await target.served(apiVersion, kind);
      if (resource === undefined) continue;
      watched.start(resource, () =>
        startInformer(targetClient, resource, watchOptions, { onChange, onDelete: onChange }),
      );
    }
  };
  const watchOptions = { labelSelector: labelSelector(MANAGED_BY), signal };
  const onChange = ({ metadata }: KubeObject) => {
    const origin = metadata.annotations?.[annotations.origin];
    if (origin !== undefined && managedResources.objects.has(origin)) checks.add(origin);
  };

  // Those with a class are for other resource-managers.
  const serves = ({ spec }: FullManagedResource) => (spec.class ?? '') === (options.class ?? '');
  const managedResources: Informer<FullManagedResource> = startInformer<FullManagedResource>(
    source,
    resources.managedResources,
    { namespace: options.namespace, signal },
    {
      onChange(object, old) {
        if (!serves(object)) return;
        const key = objectText(object.metadata);
        if (startsPass(object, old)) passes.add(key);
        if (startsCheck(object, old)) {
          void watchKinds(object).catch(() => {});
          checks.add(key);
        }
      },
    },
  );
  await managedResources.synced;

  return {
    async stop() {
      stopping.abort();
      await Promise.all([passes.stop(), checks.stop()]);
      await Promise.all([managedResources.stopped, watched.stopped()]);
      source.close();
      targetClient.close();
      discovery.close();
    },
  };
}

/** Returns whether a new version of a ManagedResource starts a pass (rule 3). */
function startsPass(object: FullManagedResource, old: FullManagedResource | undefined): boolean {
  const ignores = ({ metadata }: FullManagedResource) => isTrue(metadata.annotations, annotations.ignore);
  if (old === undefined) return true;
  if (ignores(object) && !ignores(old)) return true;
  if (ignores(object) && object.metadata.deletionTimestamp === undefined) return false;
  return (
    object.metadata.generation !== old.metadata.generation ||
    object.metadata.annotations?.['gardener.cloud/operation'] === 'reconcile' ||
    ignores(old) !== ignores(object) ||
    becameUnhealthy(object, old)
  );
}

function becameUnhealthy(object: FullManagedResource, old: FullManagedResource): boolean {
  const before = statusOf(old, 'ResourcesHealthy');
  return statusOf(object, 'ResourcesHealthy') === 'False' && (before === undefined || before === 'True');
}

function startsCheck(object: FullManagedResource, old: FullManagedResource | undefined): boolean {
  const applied = statusOf(object, 'ResourcesApplied');
  return applied === 'True' && (old === undefined || statusOf(old, 'ResourcesApplied') !== applied);
}

function statusOf({ status }: FullManagedResource, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}

function watchedKinds(signal: AbortSignal) {
  const informers = new Map<string, Informer<KubeObject>>();
  return {
    start({ group, version, plural }: Resource, begin: () => Informer<KubeObject>) {
      const key = `${group}/${version}/${plural}`;
      if (!signal.aborted && !informers.has(key)) informers.set(key, begin());
    },
    stopped: () => Promise.all([...informers.values()].map((informer) => informer.stopped)),
  };
}

const labelSelector = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
