import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import type { ManagedResource } from '../../../shared/gardener/types.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { type Changes, changesOf, leftoverSecrets } from '../plan/changes.ts';
import type { Plan } from '../plan/plan.ts';
import { type ControlPlane, readSecretNames } from '../read/control-plane.ts';
import { deleteManagedResource, release } from '../release.ts';
import { type Run, secondsInFlight } from '../run.ts';
import { judge, PATIENCE_SECONDS } from './judge.ts';
import { retryApply, retryWebhook } from './retry.ts';
import { writeContent, writeManagedResource } from './write.ts';

/**
 * Delivers a plan through the resource-manager: writes the ManagedResources that differ, or reports how far the
 * resource-manager has come.
 */
export async function deliverByManagedResource(
  run: Run,
  plan: Plan,
  { previous, live }: ControlPlane,
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const isFirstRun = previous === undefined && live.size === 0;
  const secretNames = isFirstRun ? undefined : await readSecretNames(seed, namespace);
  const changes = changesOf(plan, live, secretNames);
  const { write, writeSecret, remove, blocked } = changes;
  if (write.length + writeSecret.length + remove.length + blocked.length > 0) return apply(run, plan, changes, live);
  // The record first, here too: released objects must not count as applied, whatever happens next.
  if (changes.release.length > 0) await reporter.record(plan.record);
  for (const resource of changes.release) await release(seed, resource);
  return reportProgress(run, plan, live, secretNames ?? new Set());
}

/** Records, then writes: whatever happens next, a later run knows what may be in the shoot. */
async function apply(
  run: Run,
  { record, contents }: Plan,
  changes: Changes,
  live: Map<string, ManagedResource>,
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const blocked = judge(changes.blocked, live, secondsInFlight(run));
  if (blocked.state === 'failed') {
    await reporter.failed(blocked.message, [RETRYABLE_CONFIGURATION_PROBLEM], { applied: record });
  } else {
    await reporter.processing(applying(record.fluxVersion), { applied: record });
  }
  await reporter.accept();
  for (const [name, secretName] of Object.entries(record.managedResources)) {
    // The Secret first: a ManagedResource without it fails (trap 28).
    if (changes.writeSecret.includes(name)) await writeContent(seed, namespace, name, contents.get(name) ?? []);
    if (changes.write.includes(name)) await writeManagedResource(seed, namespace, name, secretName, live.get(name));
  }
  // The resource-manager does not notice that a Secret is back (trap 28).
  const restored = changes.writeSecret.filter((name) => !changes.write.includes(name));
  await retryApply(
    seed,
    restored.flatMap((name) => live.get(name) ?? []),
  );
  for (const resource of changes.remove) await deleteManagedResource(seed, resource);
  for (const resource of changes.release) await release(seed, resource);
  // The ManagedResources wake this function once they are applied; failures in between count only after this time.
  if (blocked.state === 'failed') return requeueAfter(60);
  return requeueAfter(changes.blocked.length > 0 ? 2 : PATIENCE_SECONDS);
}

async function reportProgress(
  run: Run,
  { record, references }: Plan,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string>,
): Promise<Outcome> {
  const { reporter, seed, namespace, isNewlyAsked } = run;
  const seconds = secondsInFlight(run);
  const verdict = judge(Object.keys(record.managedResources), live, seconds);
  await retryWebhook(seed, namespace, live);
  if (isNewlyAsked) await retryApply(seed, [...live.values()]);
  if (verdict.state === 'pending' || verdict.state === 'struggling') {
    // A failure without a request starts an operation, so that its age counts from here.
    if (reporter.isInFlight() || verdict.state === 'struggling') {
      await reporter.processing(applying(record.fluxVersion), { applied: record });
      await reporter.accept();
    }
    if (verdict.state === 'struggling') return requeueAfter(verdict.recheckInSeconds);
    // When a late resource-manager fails, that wakes nothing, and the run that wrote the content has done its recheck.
    const isLate = isNewlyAsked || seconds >= PATIENCE_SECONDS;
    return isLate && reporter.isInFlight() ? requeueAfter(PATIENCE_SECONDS) : done;
  }
  if (verdict.state === 'failed') {
    await reporter.failed(verdict.message, [RETRYABLE_CONFIGURATION_PROBLEM], { applied: record });
    await reporter.accept();
    return requeueAfter(60);
  }
  for (const name of leftoverSecrets(secretNames, { record }, live)) {
    await seed.delete(resources.secrets, { namespace, name });
  }
  await reporter.succeeded(`Flux ${record.fluxVersion} and its configuration are applied.`, {
    applied: record,
    references,
  });
  await reporter.finish();
  return done;
}

function applying(fluxVersion: string): string {
  return `Applying Flux ${fluxVersion} and its configuration.`;
}
