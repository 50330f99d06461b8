import type { KubeObject } from '../client/client.ts';
import { groupOf } from './references.ts';
import { annotations } from './types.ts';

interface Status {
  observedGeneration?: number;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
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
};

const rolledOut: Check = (_object, { conditions = [] }) => {
  const progressing = conditions.find(({ type }) => type === 'Progressing');
  if (progressing === undefined) return 'condition "Progressing" is missing';
  return progressing.status === 'True' && progressing.reason === 'NewReplicaSetAvailable'
    ? undefined
    : (progressing.message ?? '');
};

const progressChecks: Record<string, Check> = {
  'apps/Deployment': first(outdated, rolledOut),
};
