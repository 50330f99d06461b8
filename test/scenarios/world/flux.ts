import type { ApiObject, KubeApi } from '@shoot-flux/landscape/kube-api';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Flux's controllers and a kubelet in the shoot, one step at a time. */
export interface Flux {
  /** False: nothing becomes Ready, and finalizers stay, as without the controllers. */
  works: boolean;
  /** Kustomizations with `prune: true` that were deleted while Flux worked: the harm that must never happen. */
  pruned: string[];
  /** Does everything that is due; false when nothing is. */
  step(): boolean;
}

const FINALIZER = 'finalizers.fluxcd.io';
const SOURCE = 'source.toolkit.fluxcd.io/v1';
const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/v1';

export function installFlux({ objects }: KubeApi): Flux {
  const list = (apiVersion: string, kind: string): ApiObject[] => {
    try {
      return objects.list(apiVersion, kind);
    } catch {
      return [];
    }
  };
  const flux: Flux = {
    works: false,
    pruned: [],
    step() {
      const deployments = list('apps/v1', 'Deployment');
      if (!flux.works || !deployments.some(({ metadata }) => metadata.name === 'kustomize-controller')) return false;
      const synced = [...list(SOURCE, 'GitRepository'), ...list(KUSTOMIZE, 'Kustomization')];
      const did = [
        ...deployments.map(makeAvailable),
        ...synced.map((object) =>
          object.metadata.deletionTimestamp === undefined ? makeReady(object) : removeFinalizer(object),
        ),
      ];
      return did.includes(true);
    },
  };

  const makeAvailable = (deployment: ApiObject): boolean => {
    const { generation = 1 } = deployment.metadata;
    const status = deployment.status as { observedGeneration?: number } | undefined;
    if (status?.observedGeneration === generation) return false;
    const { replicas = 1 } = deployment.spec as { replicas?: number };
    objects.patchStatus(referenceTo(deployment), {
      observedGeneration: generation,
      replicas,
      updatedReplicas: replicas,
      availableReplicas: replicas,
    });
    return true;
  };

  const makeReady = (object: ApiObject): boolean => {
    const { generation = 1, finalizers = [] } = object.metadata;
    const spec = object.spec as { suspend?: boolean };
    const status = object.status as { observedGeneration?: number } | undefined;
    if (spec.suspend === true || status?.observedGeneration === generation) return false;
    if (!finalizers.includes(FINALIZER)) {
      objects.patch(referenceTo(object), { metadata: { finalizers: [...finalizers, FINALIZER] } });
    }
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Succeeded',
      message: 'done',
      observedGeneration: generation,
    };
    const conditions = [{ ...ready, lastTransitionTime: '2026-05-01T12:00:00Z' }];
    objects.patchStatus(referenceTo(object), { observedGeneration: generation, conditions });
    return true;
  };

  const removeFinalizer = (object: ApiObject): boolean => {
    const { finalizers = [], name } = object.metadata;
    if (!finalizers.includes(FINALIZER)) return false;
    const spec = object.spec as { suspend?: boolean; prune?: boolean };
    if (object.kind === 'Kustomization' && spec.prune === true && spec.suspend !== true) flux.pruned.push(name);
    objects.patch(referenceTo(object), { metadata: { finalizers: finalizers.filter((entry) => entry !== FINALIZER) } });
    return true;
  };
  return flux;
}

function referenceTo(object: ApiObject) {
  return object as unknown as KubeObject;
}
