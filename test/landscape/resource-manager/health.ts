import type { KubeObject } from '../client/client.ts';
import { groupOf } from './references.ts';
import { annotations } from './types.ts';

interface Status {
  observedGeneration?: number;
  replicas?: number;
  updatedReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  desiredNumberScheduled?: number;
  numberReady?: number;
  numberUnavailable?: number;
  updatedNumberScheduled?: number;
  currentReplicas?: number;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
  phase?: string;
  failed?: number;
  loadBalancer?: { ingress?: unknown[] };
}

type Check = (object: KubeObject, status: Status) => string | undefined;

/** Returns why the object is unhealthy; undefined: it is healthy, or of a kind that only has to exist. */
export function unhealthy(object: KubeObject): string | undefined {
  if (skipsChecks(object)) return undefined;
  return healthChecks[`${groupOf(object.apiVersion)}/${object.kind}`]?.(object, statusOf(object));
}

/** Returns why the object is still rolling out. */
export function rollingOut(object: KubeObject): string | undefined {
  if (skipsChecks(object)) return undefined;
  return progressChecks[`${groupOf(object.apiVersion)}/${object.kind}`]?.(object, statusOf(object));
}

/** The kinds that have a rollout. */
export const rollsOut = (apiVersion: string, kind: string) => `${groupOf(apiVersion)}/${kind}` in progressChecks;

function skipsChecks({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotations.skipHealthCheck] === 'true';
}

const statusOf = (object: KubeObject) => (object.status ?? {}) as Status;
const specOf = (object: KubeObject) => (object.spec ?? {}) as { replicas?: number; type?: string };

const outdated: Check = ({ metadata: { generation = 0 } }, { observedGeneration = 0 }) =>
  observedGeneration < generation ? `observed generation outdated (${observedGeneration}/${generation})` : undefined;

/** A condition that must have this status, or may be absent. */
const condition =
  (type: string, expected: string, optional = false): Check =>
  (_object, { conditions = [] }) => {
    const found = conditions.find((entry) => entry.type === type);
    if (found === undefined) return optional ? undefined : `condition "${type}" is missing`;
    if (found.status === expected) return undefined;
    const text = `condition "${type}" has invalid status ${found.status} (expected ${expected})`;
    return `${text} due to ${found.reason ?? ''}: ${found.message ?? ''}`;
  };

const first =
  (...checks: Check[]): Check =>
  (object, status) => {
    for (const check of checks) {
      const reason = check(object, status);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };

const enoughReplicas: Check = (object, { readyReplicas = 0 }) => {
  const wanted = specOf(object).replicas ?? 1;
  return readyReplicas < wanted ? `not enough ready replicas (${readyReplicas}/${wanted})` : undefined;
};

const daemonsReady: Check = (_object, { desiredNumberScheduled = 0, numberUnavailable = 0 }) =>
  numberUnavailable > 0
    ? `too many unavailable pods found (${numberUnavailable}/${desiredNumberScheduled})`
    : undefined;

const podRuns: Check = (_object, { phase = '' }) =>
  ['Running', 'Succeeded'].includes(phase) ? undefined : `pod is in invalid phase "${phase}"`;

const hasAddress: Check = (object, { loadBalancer }) =>
  specOf(object).type === 'LoadBalancer' && !loadBalancer?.ingress?.length
    ? 'service is missing ingress status'
    : undefined;

const healthChecks: Record<string, Check> = {
  'apiextensions.k8s.io/CustomResourceDefinition': first(
    condition('NamesAccepted', 'True'),
    condition('Established', 'True'),
    condition('Terminating', 'False', true),
  ),
  'apps/Deployment': first(
    outdated,
    condition('Available', 'True'),
    condition('Progressing', 'True', true),
    condition('ReplicaFailure', 'False', true),
  ),
  'apps/StatefulSet': first(outdated, enoughReplicas),
  'apps/DaemonSet': first(outdated, daemonsReady),
  'apps/ReplicaSet': first(outdated, enoughReplicas),
  '/ReplicationController': first(outdated, enoughReplicas),
  'batch/Job': condition('Failed', 'False', true),
  '/Pod': podRuns,
  '/Service': hasAddress,
};

const rolledOut: Check = (_object, { conditions = [] }) => {
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  if (progressing === undefined) return 'condition "Progressing" is missing';
  return progressing.status === 'True' && progressing.reason === 'NewReplicaSetAvailable'
    ? undefined
    : (progressing.message ?? '');
};

const updated: Check = (object, { updatedReplicas = 0 }) => {
  const wanted = specOf(object).replicas ?? 1;
  return updatedReplicas < wanted ? `${updatedReplicas} of ${wanted} replica(s) have been updated` : undefined;
};

const daemonsUpdated: Check = (_object, { desiredNumberScheduled = 0, updatedNumberScheduled = 0 }) =>
  updatedNumberScheduled < desiredNumberScheduled
    ? `${updatedNumberScheduled} of ${desiredNumberScheduled} replica(s) have been updated`
    : undefined;

const progressChecks: Record<string, Check> = {
  'apps/Deployment': first(outdated, rolledOut),
  'apps/StatefulSet': first(outdated, updated),
  'apps/DaemonSet': first(outdated, daemonsUpdated),
};
