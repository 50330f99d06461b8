import { type KubeClient, type KubeObject, type ObjectName, resources } from '../client/client.ts';
import { type NextCondition, nextCondition } from './conditions.ts';
import { rollingOut, rollsOut, unhealthy } from './health.ts';
import { subjectOf } from './status.ts';
import type { Target } from './target.ts';
import { annotations, type FullManagedResource, isTrue, type ObjectReference } from './types.ts';

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
      return nextCondition('ResourcesHealthy', 'False', `${kind}Missing`, message);
    }
    const reason = unhealthy(object);
    if (reason !== undefined) {
      const message = `${kind} "${namespace}/${name}" is unhealthy: ${reason}`;
      return nextCondition('ResourcesHealthy', 'False', `${kind}Unhealthy`, message);
    }
  }
  return nextCondition('ResourcesHealthy', 'True', 'ResourcesHealthy', 'All resources are healthy.');
}

async function progressOf(target: Target, references: readonly ObjectReference[]): Promise<NextCondition> {
  for (const reference of references.filter(({ apiVersion, kind }) => rollsOut(apiVersion, kind))) {
    const { kind, name, namespace = '' } = reference;
    const object = await read(target, reference);
    const reason = object && rollingOut(object);
    if (reason !== undefined) {
      const message = `${kind} "${namespace}/${name}" is progressing: ${reason}`;
      return nextCondition('ResourcesProgressing', 'True', `${kind}Progressing`, message);
    }
  }
  return nextCondition(
    'ResourcesProgressing',
    'False',
    'ResourcesRolledOut',
    'All resources have been fully rolled out.',
  );
}

async function read(target: Target, reference: ObjectReference): Promise<KubeObject | undefined> {
  const resource = await target.served(reference.apiVersion, reference.kind);
  return resource && target.forHealth(resource, reference);
}
