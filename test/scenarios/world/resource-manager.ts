import { createDiscovery } from '@shoot-flux/landscape/controllers';
import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import type { FullManagedResource } from '@shoot-flux/landscape/resource-manager';
import { createTarget, reconcile } from '@shoot-flux/landscape/resource-manager';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

interface Options {
  seed: KubeApi;
  shoot: KubeApi;
  now(): Date;
}

const SYNC_PERIOD_MS = 3_600_000;
const RETRY_MS = 1000;

/** The landscape's resource-manager, one pass at a time. */
export function createResourceManager({ seed, shoot, now }: Options) {
  const connection = ({ url, ca, token }: KubeApi) => ({ server: url, ca, token });
  const options = { userAgent: 'gardener-resource-manager' };
  const source = createKubeClient(connection(seed), options);
  const targetClient = createKubeClient(connection(shoot), options);
  let discovery = createDiscovery(connection(shoot));
  /** By name: the state that the last pass saw, and when the next one is due. */
  const passes = new Map<string, { seen: string; due: number }>();

  const managedResources = () => {
    const apiVersion = 'resources.gardener.cloud/v1alpha1';
    return seed.objects.list(apiVersion, 'ManagedResource') as unknown as FullManagedResource[];
  };
  const secretVersion = (namespace: string, name: string) =>
    seed.objects.find({ apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name } })?.metadata.resourceVersion;
  const stateOf = ({ metadata, spec }: FullManagedResource) => {
    const { namespace = '', uid, generation, deletionTimestamp } = metadata;
    // The creation of a Secret triggers no pass (trap 28), but the retry after its absence finds it.
    const secrets = spec.secretRefs.map(({ name }) => secretVersion(namespace, name));
    return JSON.stringify([uid, generation, deletionTimestamp !== undefined, secrets]);
  };

  return {
    /** Reconciles one ManagedResource that has changed or is due; false when none is. */
    async step() {
      const live = managedResources();
      const found = live.find((resource) => {
        const pass = passes.get(nameOf(resource));
        return pass === undefined || pass.seen !== stateOf(resource) || pass.due <= now().getTime();
      });
      if (found === undefined) return false;
      const after = await pass(found);
      passes.set(nameOf(found), { seen: stateOf(found), due: now().getTime() + after });
      return true;
    },
    /** When one is due next, in epoch ms. */
    nextDue() {
      const live = new Set(managedResources().map(nameOf));
      const due = [...passes].filter(([name]) => live.has(name)).map(([, pass]) => pass.due);
      return due.length === 0 ? undefined : Math.min(...due);
    },
    /** Saves its memory. @returns a function that restores it */
    checkpoint() {
      const known = [...passes];
      return () => {
        discovery.close();
        discovery = createDiscovery(connection(shoot));
        passes.clear();
        for (const [name, pass] of known) passes.set(name, pass);
      };
    },
    close() {
      source.close();
      targetClient.close();
      discovery.close();
    },
  };

  /** How long until the next pass, in ms. */
  async function pass({ metadata }: FullManagedResource): Promise<number> {
    const syncPeriodMs = SYNC_PERIOD_MS;
    try {
      const target = createTarget(targetClient, discovery, ['kube-system', 'flux-system']);
      return (await reconcile({ source, target, syncPeriodMs, pendingMs: 5000 }, metadata)) ?? syncPeriodMs;
    } catch {
      return RETRY_MS;
    }
  }
}

const nameOf = ({ metadata }: KubeObject) => metadata.name;
