import { isDeepStrictEqual } from 'node:util';
import { errorMessage, type KubeClient, type KubeObject, type ObjectName, resources } from '../client/client.ts';
import { applyAll, type ObjectToApply } from './apply.ts';
import { clean } from './clean.ts';
import {
  applyFailed,
  applySucceeded,
  changed,
  deleting,
  deletionBegins,
  deletionPending,
  ignored,
  type NextCondition,
  type Subject,
  secretUnreadable,
  subjectOf,
} from './conditions.ts';
import { type ContentSecret, decodeContent } from './content.ts';
import {
  annotations,
  FINALIZER,
  type FullManagedResource,
  isTrue,
  namedOf,
  type ObjectReference,
  objectKey,
  referenceTo,
  sortReferences,
} from './references.ts';
import type { Target } from './target.ts';

export interface ReconcileOptions {
  source: KubeClient;
  target: Target;
  syncPeriodMs: number;
  /** Pause while objects are still terminating; 5 s in the real one. */
  pendingMs: number;
}

/**
 * Runs one pass over a ManagedResource (rule 3.4).
 * @returns the pause before the next pass, in ms
 * @throws for a retry with back-off
 */
export async function reconcile(options: ReconcileOptions, name: ObjectName): Promise<number | undefined> {
  const found = await options.source.find<FullManagedResource>(resources.managedResources, name);
  if (found === undefined) return undefined;
  const subject = subjectOf(options.source, found);
  if (found.metadata.annotations?.['gardener.cloud/operation'] === 'reconcile') {
    await subject.patchMetadata({ annotations: { 'gardener.cloud/operation': null } });
  }
  if (found.metadata.deletionTimestamp !== undefined) return removeAll(options, subject);
  if (isTrue(found.metadata.annotations, annotations.ignore)) {
    await subject.setStatus(ignored);
    return undefined;
  }
  return applySet(options, subject);
}

async function applySet(options: ReconcileOptions, subject: Subject): Promise<number> {
  const { source, target } = options;
  await addFinalizer(subject);
  const { objects, checksum } = decodeContent(await readSecrets(source, subject));
  await setNamespaces(target, objects);
  const plan = planOf(subject.current(), objects);
  const { status } = subject.current();

  const isNew = !isDeepStrictEqual(status?.resources ?? [], plan.references);
  if (isNew || status?.secretsDataChecksum !== checksum) {
    await subject.setStatus(changed(subject.condition('ResourcesApplied')));
  }

  const pending = await clean(target, plan.dropped);
  if (pending !== undefined) {
    await subject.setStatus([deletionPending(pending)]);
    return options.pendingMs;
  }

  const { namespace, name } = subject.current().metadata;
  try {
    await applyAll(target, plan.toApply, `${namespace}/${name}`);
  } catch (error) {
    return fail(subject, applyFailed(errorMessage(error)));
  }

  const { generation = 0 } = subject.current().metadata;
  await subject.setStatus([applySucceeded], {
    observedGeneration: generation,
    resources: plan.references,
    secretsDataChecksum: checksum,
  });
  return options.syncPeriodMs;
}

async function removeAll(options: ReconcileOptions, subject: Subject): Promise<number | undefined> {
  const { metadata, spec, status } = subject.current();
  if (!metadata.finalizers?.includes(FINALIZER)) return undefined;
  await subject.setStatus(deleting);
  if (spec.keepObjects !== true) {
    await subject.setStatus([deletionBegins(subject.condition('ResourcesApplied'))]);
    const pending = await clean(options.target, status?.resources ?? []);
    if (pending !== undefined) {
      await subject.setStatus([deletionPending(pending)]);
      return options.pendingMs;
    }
  }
  const rest = subject.current().metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER);
  await subject.patchMetadata({ finalizers: rest });
  return undefined;
}

async function addFinalizer(subject: Subject): Promise<void> {
  const { finalizers = [] } = subject.current().metadata;
  if (!finalizers.includes(FINALIZER)) await subject.patchMetadata({ finalizers: [...finalizers, FINALIZER] });
}

async function readSecrets(source: KubeClient, subject: Subject): Promise<ContentSecret[]> {
  const { metadata, spec } = subject.current();
  const secrets: ContentSecret[] = [];
  for (const { name } of spec.secretRefs) {
    const secret = await source.find<ContentSecret>(resources.secrets, { namespace: metadata.namespace, name });
    if (secret === undefined) return fail(subject, secretUnreadable(`Secret "${name}" not found`));
    secrets.push(secret);
  }
  return secrets;
}

/** Sets namespace `default` on objects without one whose kind is namespaced or unknown; removes it from other kinds. */
async function setNamespaces(target: Target, objects: KubeObject[]): Promise<void> {
  for (const object of objects) {
    const resource = await target.served(object.apiVersion, object.kind);
    const namespaced = resource?.namespaced ?? object.kind !== 'Namespace';
    if (namespaced) object.metadata.namespace ||= 'default';
    else delete object.metadata.namespace;
  }
}

interface Plan {
  toApply: ObjectToApply[];
  references: ObjectReference[];
  /** Applied before, and no longer in the set. */
  dropped: ObjectReference[];
}

function planOf({ status }: FullManagedResource, objects: KubeObject[]): Plan {
  const old = new Map((status?.resources ?? []).map((reference) => [objectKey(reference), reference]));
  const plan: Plan = { toApply: [], references: [], dropped: [] };
  const seen = new Set<string>();
  for (const object of objects) {
    const key = objectKey(namedOf(object));
    seen.add(key);
    plan.toApply.push({ object, old: old.get(key) ?? {} });
    plan.references.push(referenceTo(object));
  }
  sortReferences(plan.references);
  plan.dropped = [...old].filter(([key]) => !seen.has(key)).map(([, reference]) => reference);
  return plan;
}

async function fail(subject: Subject, condition: NextCondition): Promise<never> {
  await subject.setStatus([condition]);
  throw new Error(condition.message);
}
