import { managedResourceManifest } from './managed-resource.ts';
import type { Applied, Cluster, Condition, Extension, LastOperation, ManagedResource, Shoot } from './types.ts';

/** Factories for test data: valid objects with the given parts replaced. */

export const NAMESPACE = 'shoot--foo--bar';

export function extensionFactory(
  parts: Partial<Omit<Extension, 'metadata'>> & { metadata?: Partial<Extension['metadata']> } = {},
): Extension {
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Extension',
    spec: { type: 'shoot-flux' },
    ...parts,
    metadata: {
      name: 'shoot-flux',
      namespace: NAMESPACE,
      uid: 'u1',
      resourceVersion: '7',
      generation: 1,
      ...parts.metadata,
    },
  };
}

export function lastOperationFactory(parts: Partial<LastOperation> = {}): LastOperation {
  return {
    type: 'Create',
    state: 'Succeeded',
    progress: 100,
    description: 'applied',
    lastUpdateTime: '2026-01-02T03:04:05Z',
    ...parts,
  };
}

export function clusterFactory(
  shoot: Partial<Omit<Shoot, 'metadata'>> & { metadata?: Partial<Shoot['metadata']> } = {},
): Cluster {
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name: NAMESPACE },
    spec: {
      shoot: {
        ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
        ...shoot,
        metadata: { name: 'bar', namespace: 'garden-foo', ...shoot.metadata },
      },
    },
  };
}

export function conditionFactory(parts: Partial<Condition> = {}): Condition {
  return {
    type: 'ResourcesApplied',
    status: 'True',
    reason: 'ApplySucceeded',
    message: 'All resources are applied.',
    lastTransitionTime: '2026-01-02T03:04:05Z',
    lastUpdateTime: '2026-01-02T03:04:05Z',
    ...parts,
  };
}

/** A ManagedResource of ours with the given content Secret, applied in its current generation. */
export function managedResourceFactory(
  name: string,
  secretName: string,
  parts: {
    metadata?: Partial<ManagedResource['metadata']>;
    status?: ManagedResource['status'];
    keepObjects?: boolean;
  } = {},
): ManagedResource {
  const manifest = managedResourceManifest(NAMESPACE, name, secretName) as ManagedResource;
  return {
    ...manifest,
    metadata: { ...manifest.metadata, uid: `uid-${name}`, resourceVersion: '3', generation: 2, ...parts.metadata },
    spec: { ...manifest.spec, ...(parts.keepObjects === undefined ? {} : { keepObjects: parts.keepObjects }) },
    status: parts.status ?? { observedGeneration: 2, conditions: [conditionFactory()] },
  };
}

export function appliedFactory(parts: Partial<Applied> = {}): Applied {
  return {
    configHash: 'c0ffee',
    fluxVersion: 'v2.9.4',
    namespace: 'flux-system',
    ownsNamespace: true,
    components: ['source-controller', 'kustomize-controller'],
    syncMode: 'Once',
    fromFluxConfig: true,
    managedResources: {},
    objects: {},
    ...parts,
  };
}
