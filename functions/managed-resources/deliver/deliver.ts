import { RetryableError } from '../../../shared/errors.ts';
import {
  contentSecret,
  isOurManagedResource,
  managedResourceManifest,
  managedResourcePatch,
} from '../../../shared/gardener/managed-resource.ts';
import { type Applied, type ManagedResource, ORIGIN, ORIGIN_LABEL } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError, unless } from '../../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { growingPause } from '../../../shared/runtime/growing-pause.ts';
import { done, type Outcome, requeueAfter, sooner } from '../../../shared/runtime/outcome.ts';
import { type Changes, changesOf, inOrder, leftoverSecrets } from '../plan/changes.ts';
import type { Plan } from '../plan/plan.ts';
import { withInstalled } from '../plan/version.ts';
import {
  type ControlPlane,
  deleteManagedResource,
  fieldManager,
  findManagedResource,
  RELEASED,
  readSecretNames,
  releaseObjects,
  retryApply,
  retryWebhook,
} from '../read/control-plane.ts';
import type { Recorded } from '../reporter.ts';
import { oldestDeletion, PATIENCE_SECONDS, type Run, retryLater, secondsInFlight, waitOn } from '../run.ts';
import { judge } from './judge.ts';
import { requestReconciliation } from './requests.ts';
import { applying } from './restored.ts';

/** What remains to be done once everything is applied, and the record after it. */
type Finish = () => Promise<{ record: Applied; isComplete: boolean }>;

/** Records a plan and writes the ManagedResources that differ; when none differs, reports how far they are applied. */
export async function deliverByManagedResource(
  run: Run,
  plan: Plan,
  { previous, live }: ControlPlane,
  finish?: Finish,
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const isFirstRun = previous === undefined && live.size === 0;
  const secretNames = isFirstRun ? undefined : await readSecretNames(seed, namespace);
  const all = changesOf(plan, live, secretNames, previous);
  const changes = inOrder(all, plan, live, secondsInFlight(run) > PATIENCE_SECONDS);
  const { write, writeSecret, remove, blocked, release } = changes;
  if (write.length + writeSecret.length + remove.length + blocked.length === 0) {
    // The record first, here too: released objects must not count as applied, whatever happens next.
    if (release.length > 0) await reporter.record({ applied: plan.record });
    for (const resource of release) await releaseObjects(seed, resource, RELEASED);
    // What is held back counts as not applied, whatever content its ManagedResource has now.
    const seen = new Map([...live].filter(([name]) => name !== changes.deferred));
    const outcome = await reportProgress(run, plan, seen, secretNames ?? new Set(), finish);
    // Run again: the waiting ManagedResource may be released now, and no event says so.
    const haveLeft = previous?.leaving !== undefined && plan.record.leaving === undefined;
    return haveLeft && outcome.type === 'done' ? requeueAfter(1) : outcome;
  }
  // Blocked: still being deleted, so it can only be recreated afterwards. One that stays stuck fails the operation.
  const verdict = judge(blocked, live, secondsInFlight(run));
  // Recorded before the first write: whatever happens next, a later run knows what may be in the shoot.
  const recorded = { applied: plan.record };
  if (verdict.state === 'failed') await reporter.failed(verdict.message, recorded);
  else await reporter.processing(applying(plan.record.fluxVersion), recorded);
  await reporter.accept();
  await writeChanges(run, plan, changes, live);
  if (verdict.state === 'failed') return retryLater(run);
  // The ManagedResources wake this function once they are applied; failures count only after PATIENCE_SECONDS.
  if (blocked.length === 0) return requeueAfter(PATIENCE_SECONDS);
  return waitOn(run, oldestDeletion(blocked.flatMap((name) => live.get(name) ?? [])), 2);
}

async function writeChanges(
  { seed, namespace }: Run,
  { record, contents }: Plan,
  changes: Changes,
  live: Map<string, ManagedResource>,
): Promise<void> {
  for (const [name, secretName] of Object.entries(record.managedResources)) {
    // The Secret first: a ManagedResource without it fails (trap 28).
    if (changes.writeSecret.includes(name)) await writeContent(seed, namespace, name, contents.get(name) ?? []);
    if (changes.write.includes(name)) await writeManagedResource(seed, namespace, name, secretName, live.get(name));
  }
  // The resource-manager does not notice that a Secret is back (trap 28).
  const restored = changes.writeSecret.filter((name) => !changes.write.includes(name));
  const failing = restored.flatMap((name) => live.get(name) ?? []);
  await retryApply(seed, failing);
  const reason = 'the configuration has no objects for it any more';
  for (const resource of changes.remove) await deleteManagedResource(seed, resource, reason);
  for (const resource of changes.release) await releaseObjects(seed, resource, RELEASED);
}

/** Writes a content Secret. Its name carries the hash of the content, so a Secret that exists is the right one. */
export async function writeContent(
  seed: KubeClient,
  namespace: string,
  name: string,
  objects: KubeObject[],
): Promise<void> {
  const secret = await contentSecret(namespace, name, objects);
  await unless(seed.create(resources.secrets, secret, { fieldManager }), AlreadyExistsError);
}

/**
 * Writes the ManagedResource that refers to a content Secret.
 * @param live as it was read; undefined: it did not exist
 * @throws ConflictError when it has changed since then: with older content, the resource-manager would delete objects
 * that a newer run has brought
 */
export async function writeManagedResource(
  seed: KubeClient,
  namespace: string,
  name: string,
  secretName: string,
  live: ManagedResource | undefined,
): Promise<void> {
  if (live === undefined) return createManagedResource(seed, managedResourceManifest(namespace, name, secretName));
  const patch = managedResourcePatch(live, secretName);
  await seed.mergePatch(resources.managedResources, { namespace, name }, patch, { fieldManager });
}

/** @throws ConflictError when ours exists without its label, which it gets back; the next run plans with its content */
async function createManagedResource(seed: KubeClient, manifest: KubeObject): Promise<void> {
  try {
    await seed.create(resources.managedResources, manifest, { fieldManager });
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    const live = await findManagedResource(seed, manifest.metadata);
    if (live !== undefined && !isOurManagedResource(live)) {
      const { namespace, name } = live.metadata;
      throw new RetryableError(
        `ManagedResource ${namespace}/${name} belongs to another owner, and its objects must not be replaced; delete it, or recreate it under another name.`,
      );
    }
    if (live !== undefined && live.metadata.labels?.[ORIGIN_LABEL] !== ORIGIN) {
      const { resourceVersion } = live.metadata;
      const patch = { metadata: { resourceVersion, labels: { [ORIGIN_LABEL]: ORIGIN } } };
      await seed.mergePatch(resources.managedResources, live.metadata, patch, { fieldManager });
    }
    throw new ConflictError(error.message, error.status, error.reason, { cause: error });
  }
}

/** Reports whether the resource-manager has applied everything, and cleans up once it has. */
async function reportProgress(
  run: Run,
  plan: Plan,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string>,
  finish: Finish = async () => ({ record: plan.record, isComplete: true }),
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const { record, references } = plan;
  const sentence = applying(record.fluxVersion);
  const unapplied = await reportUnapplied(run, record, live, sentence, { applied: record });
  if (unapplied !== undefined) return unapplied;
  for (const name of leftoverSecrets(secretNames, { record }, live)) {
    await seed.delete(resources.secrets, { namespace, name }, { reason: 'no ManagedResource refers to this content' });
  }
  const finished = await finish();
  // The record comes after it: a run that is killed in between asks again with the same value, which changes nothing.
  const isFollowed =
    plan.requests === undefined || (await requestReconciliation(run, { ...plan, record: finished.record }));
  const applied = { ...withInstalled(finished.record), ...(isFollowed && plan.requests) };
  await reporter.succeeded(`Flux ${record.fluxVersion} and its configuration are applied.`, { applied, references });
  await reporter.finish();
  const again = (seconds: number) => waitOn(run, reporter.current().status?.lastOperation?.lastUpdateTime, seconds);
  return sooner(finished.isComplete ? done : again(5), isFollowed ? done : again(10));
}

/**
 * Reports what of a record is not applied yet, and asks for another attempt. @returns undefined: everything is applied
 */
export async function reportUnapplied(
  run: Run,
  { managedResources }: Pick<Applied, 'managedResources'>,
  live: ReadonlyMap<string, ManagedResource>,
  sentence: string,
  recorded: Recorded = {},
): Promise<Outcome | undefined> {
  const { reporter, seed, namespace, isNewlyAsked } = run;
  const verdict = judge(Object.keys(managedResources), live, secondsInFlight(run));
  await retryWebhook(seed, namespace, live);
  if (isNewlyAsked) await retryApply(seed, live.values());
  if (verdict.state === 'applied') return undefined;
  if (verdict.state === 'failed') {
    await reporter.failed(verdict.message, recorded);
    await reporter.accept();
    return retryLater(run);
  }
  // A failure without a request starts an operation, so that its age counts from here.
  if (verdict.state === 'struggling' || reporter.isInFlight()) {
    await reporter.processing(sentence, recorded);
    await reporter.accept();
  }
  if (verdict.state === 'struggling') return requeueAfter(verdict.recheckInSeconds);
  // When a late resource-manager fails, that wakes nothing, and each run replaces the recheck of the one before it.
  return reporter.isInFlight() ? requeueAfter(pauseWhilePending(run)) : done;
}

/** A resource-manager that is down is waited for, ever more rarely. */
export function pauseWhilePending(run: Run): number {
  const hasFailed = run.reporter.current().status?.lastOperation?.state === 'Error';
  return growingPause(hasFailed ? run.reporter.failingSeconds() : secondsInFlight(run), PATIENCE_SECONDS);
}
