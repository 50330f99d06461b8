import { appliedFactory } from '../../shared/gardener/testing.ts';
import type { ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

export const object = (kind: string, name: string): ShootObject => ({
  apiVersion: 'x.toolkit.fluxcd.io/v1',
  kind,
  namespace: 'flux-system',
  name,
});
export const applied = appliedFactory({
  source: object('GitRepository', 'repo'),
  kustomization: object('Kustomization', 'apps'),
});

/** The object as it is in the shoot. */
export const live = (reference: ShootObject, ready: 'True' | 'False', message = ''): KubeObject => ({
  apiVersion: reference.apiVersion,
  kind: reference.kind,
  metadata: { name: reference.name, namespace: reference.namespace, generation: 1 },
  status: {
    observedGeneration: 1,
    lastAppliedRevision: 'main@sha1:abc',
    conditions: [{ type: 'Ready', status: ready, reason: 'Any', message }],
  },
});
export const deployment = (name: string, available: number, status = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, generation: 1 },
  spec: { replicas: 1 },
  status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: available, ...status },
});
export const deployments = applied.components.map((component) => deployment(component, 1));
export const source = live(object('GitRepository', 'repo'), 'True');
export const kustomization = live(object('Kustomization', 'apps'), 'True');
