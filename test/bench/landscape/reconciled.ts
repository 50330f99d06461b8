import { makePlan } from '../../../functions/managed-resources/plan/plan.ts';
import { renderObjects } from '../../../functions/managed-resources/read/render.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { managedResourceManifest } from '../../../shared/gardener/managed-resource.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import type { Applied, Condition, Extension, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { fluxDistribution } from './flux-distribution.ts';
import { cluster, controlPlane, extension, fluxConfig, PROJECT_NAMESPACE } from './objects.ts';

const time = '2026-01-02T03:04:05Z';

/** Objects of Shoots whose Flux is running, in the size that they have in a seed. */
export interface Reconciled {
  extension(namespace: string): Extension;
  managedResources(namespace: string): ManagedResource[];
}

/** Computes the objects of one Shoot; those of the others differ only in their names. */
export async function reconciledShoots(): Promise<Reconciled> {
  const config = effectiveConfig({
    fluxConfig: { namespace: PROJECT_NAMESPACE, data: fluxConfig('Reconcile').data as Record<string, string> },
  });
  const distribution = distributionAt(fluxDistribution);
  const [version = ''] = await distribution.versions();
  const release = await distribution.release(version);
  const shoot = shootFacts(cluster(controlPlane(1)), {});
  const inputs = {
    scope: { install: true, sync: true },
    previous: undefined,
    live: new Map(),
    render: { config, release, shoot, secrets: [], configMaps: [], ownsNamespace: true, shootHealth: false },
    shootResources: [],
    renewals: [],
  };
  const { record: applied, contents } = makePlan(inputs, await renderObjects(inputs), {
    former: undefined,
    confirmed: new Set(),
  });
  return {
    extension: (namespace) => reconciledExtension(namespace, applied),
    managedResources: (namespace) =>
      [...contents].map(([name, objects]) => {
        const manifest = managedResourceManifest(namespace, name, applied.managedResources[name] ?? '');
        return appliedManagedResource(manifest as ManagedResource, objects);
      }),
  };
}

function reconciledExtension(namespace: string, applied: Applied): Extension {
  const { spec, ...rest } = extension(namespace);
  const { configHash, fluxVersion } = applied;
  return {
    ...rest,
    metadata: { name: 'shoot-flux', namespace, finalizers: ['extensions.gardener.cloud/shoot-flux'] },
    spec,
    status: {
      observedGeneration: 1,
      lastOperation: {
        type: 'Create',
        state: 'Succeeded',
        progress: 100,
        description: `Flux ${fluxVersion} and its configuration are applied.`,
        lastUpdateTime: time,
      },
      conditions: ['FluxReady', 'SourceReady', 'KustomizationReady'].map((type) =>
        condition(
          type,
          'Ready',
          `Everything is Ready at main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c (config ${configHash})`,
        ),
      ),
      providerStatus: {
        flux: { configHash, ready: true, appliedRevision: 'main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c' },
      },
      state: { applied, bootstrapped: { at: time, fluxVersion, configHash } },
    },
  };
}

/** Returns the ManagedResource as the resource-manager leaves it. */
function appliedManagedResource(manifest: ManagedResource, objects: readonly KubeObject[]): ManagedResource {
  return {
    ...manifest,
    metadata: { ...manifest.metadata, finalizers: ['resources.gardener.cloud/gardener-resource-manager'] },
    status: {
      observedGeneration: 1,
      conditions: [
        condition('ResourcesApplied', 'ApplySucceeded', 'All resources are applied.'),
        condition('ResourcesHealthy', 'ResourcesHealthy', 'All resources are healthy.'),
        condition('ResourcesProgressing', 'ResourcesRolledOut', 'All resources are fully rolled out.'),
      ],
      resources: objects.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
        apiVersion,
        kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
      })),
    },
  };
}

function condition(type: string, reason: string, message: string): Condition {
  return { type, status: 'True', reason, message, lastTransitionTime: time, lastUpdateTime: time };
}
