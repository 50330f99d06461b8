import { type KubeClient, type KubeObject, type ObjectName, resources } from '../client/client.ts';
import { healthy, type NextCondition, progressing, subjectOf } from './conditions.ts';
import { annotations, type FullManagedResource, groupOf, isTrue, type ObjectReference } from './references.ts';
import type { Target } from './target.ts';

interface Status {
  observedGeneration?: number;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

type Check = (object: KubeObject, status: Status) => string | undefined;

/** Returns why the object fails its check; undefined: it does not, or it is of a kind that only has to exist. */
function failureOf(checks: Record<string, Check>, object: KubeObject): string | undefined {
  if (object.metadata.annotations?.[annotations.skipHealthCheck] === 'true') return undefined;
  return checks[`${groupOf(object.apiVersion)}/${object.kind}`]?.(object, (object.status ?? {}) as Status);
}

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
  const found = conditions.find(({ type }) => type === 'Progressing');
  if (found === undefined) return 'condition "Progressing" is missing';
  return found.status === 'True' && found.reason === 'NewReplicaSetAvailable' ? undefined : (found.message ?? '');
};

const progressChecks: Record<string, Check> = {
  'apps/Deployment': first(outdated, rolledOut),
};

/**
 * Writes ResourcesHealthy, then ResourcesProgressing, of a ManagedResource that is applied (rule 3). The real one does
 * this in two controllers, so either may come first.
 * @returns whether the check was due
 * @throws when an object cannot be read; the conditions then stay as they are
 */
export async function checkHealth(source: KubeClient, target: Target, name: ObjectName): Promise<boolean> {
  const found = await source.find<FullManagedResource>(resources.managedResources, name);
  if (found === undefined || !isDue(found)) return false;
  const subject = subjectOf(source, found);
  const references = found.status?.resources ?? [];
  await subject.setStatus([await healthOf(target, references)]);
  await subject.setStatus([await progressOf(target, references)]);
  return true;
}

function isDue({ metadata, status }: FullManagedResource): boolean {
  if (metadata.deletionTimestamp !== undefined || isTrue(metadata.annotations, annotations.ignore)) return false;
  const applied = status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  return applied !== undefined && applied.status !== 'Progressing' && applied.status !== 'False';
}

async function healthOf(target: Target, references: readonly ObjectReference[]): Promise<NextCondition> {
  for (const reference of references) {
    const { kind, name, namespace = '' } = reference;
    const object = await read(target, reference);
    if (object === undefined) {
      const message = `Required ${kind} "${name}" in namespace "${namespace}" is missing`;
      return healthy('False', `${kind}Missing`, message);
    }
    const reason = failureOf(healthChecks, object);
    if (reason !== undefined) {
      const message = `${kind} "${namespace}/${name}" is unhealthy: ${reason}`;
      return healthy('False', `${kind}Unhealthy`, message);
    }
  }
  return healthy('True', 'ResourcesHealthy', 'All resources are healthy.');
}

async function progressOf(target: Target, references: readonly ObjectReference[]): Promise<NextCondition> {
  for (const reference of references.filter(({ kind }) => kind === 'Deployment')) {
    const { kind, name, namespace = '' } = reference;
    const object = await read(target, reference);
    const reason = object && failureOf(progressChecks, object);
    if (reason !== undefined) {
      const message = `${kind} "${namespace}/${name}" is progressing: ${reason}`;
      return progressing('True', `${kind}Progressing`, message);
    }
  }
  return progressing('False', 'ResourcesRolledOut', 'All resources have been fully rolled out.');
}

async function read(target: Target, reference: ObjectReference): Promise<KubeObject | undefined> {
  const resource = await target.served(reference.apiVersion, reference.kind);
  return resource && target.forHealth(resource, reference);
}
