import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { applyState } from '../../../shared/gardener/managed-resource.ts';
import { isNewlyAsked } from '../../../shared/gardener/operation.ts';
import { type ManagedResource, OPERATION_ANNOTATION } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { refusedNamespace } from '../delivery.ts';
import { leftoverSecrets, type Plan, plan } from '../desired/plan.ts';
import type { Wanted } from '../desired/wanted.ts';
import { unlessGone } from '../pages.ts';
import { readSecretNames } from '../read.ts';
import type { Run } from '../run.ts';
import { askWebhookAgain } from '../webhook.ts';
import { fieldManager, release, remove, writeContent, writeManagedResource } from '../write.ts';
import { judge, PATIENCE_SECONDS } from './judge.ts';

/** What should be, when that can be said. */
export type DesiredState = Extract<Wanted, { type: 'desired' }>;

/** Writes the differences, or reports how far the resource-manager is. */
export async function settle(run: Run, wanted: DesiredState, live: Map<string, ManagedResource>): Promise<Outcome> {
  const firstRun = run.extension.status?.state?.applied === undefined && live.size === 0;
  const secretNames = firstRun ? undefined : await readSecretNames(run.seed, run.namespace);
  const steps = plan(wanted, live, secretNames);
  if (steps.write.length > 0 || steps.writeSecret.length > 0 || steps.remove.length > 0 || steps.blocked.length > 0) {
    return write(run, wanted, steps, live);
  }
  // The record first, here too: what is let go must not count as applied any more, should nothing follow.
  if (steps.release.length > 0) await run.reporter.record(wanted.applied);
  for (const resource of steps.release) await release(run.seed, resource);
  return conclude(run, wanted, live, secretNames ?? new Set());
}

/** The record comes first: whatever happens next, a later run knows what may be in the shoot. */
async function write(
  run: Run,
  wanted: DesiredState,
  steps: Plan,
  live: Map<string, ManagedResource>,
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const { applied } = wanted;
  const blocked = judge(steps.blocked, live, secondsUnderWay(run));
  if (blocked.state === 'failed') {
    await reporter.failed(blocked.message, [RETRYABLE_CONFIGURATION_PROBLEM], { applied });
  } else {
    await reporter.processing(`Applying Flux ${applied.fluxVersion} and its configuration.`, { applied });
  }
  await reporter.accept();
  for (const [name, secretName] of Object.entries(applied.managedResources)) {
    // The Secret first: a ManagedResource without it fails (trap 28).
    if (steps.writeSecret.includes(name)) await writeContent(seed, namespace, name, wanted.contents.get(name) ?? []);
    if (steps.write.includes(name)) await writeManagedResource(seed, namespace, name, secretName, live.get(name));
  }
  // That a Secret is there again tells the resource-manager nothing (trap 28).
  const restored = steps.writeSecret.filter((name) => !steps.write.includes(name));
  await tryAgain(
    seed,
    restored.flatMap((name) => live.get(name) ?? []),
  );
  for (const resource of steps.remove) await remove(seed, resource);
  for (const resource of steps.release) await release(seed, resource);
  // The ManagedResources wake this function when they are applied; what goes wrong on the way counts only then.
  if (blocked.state === 'failed') return requeueAfter(60);
  return requeueAfter(steps.blocked.length > 0 ? 2 : PATIENCE_SECONDS);
}

async function conclude(
  run: Run,
  wanted: DesiredState,
  live: Map<string, ManagedResource>,
  secretNames: ReadonlySet<string>,
): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const { applied, references } = wanted;
  const isAsked = isNewlyAsked(run.extension);
  const seconds = secondsUnderWay(run);
  const verdict = judge(Object.keys(applied.managedResources), live, seconds);
  if ([...live.values()].some((resource) => refusedNamespace(resource) !== undefined)) {
    await askWebhookAgain(seed, namespace);
  }
  if (isAsked) await tryAgain(seed, [...live.values()]);
  if (verdict.state === 'pending' || verdict.state === 'struggling') {
    // A failure that nobody asked for starts an operation: its age is counted from here.
    if (reporter.inFlight() || verdict.state === 'struggling') {
      await reporter.processing(`Applying Flux ${applied.fluxVersion} and its configuration.`, { applied });
      await reporter.accept();
    }
    if (verdict.state === 'struggling') return requeueAfter(verdict.lookAgainInSeconds);
    // A resource-manager that comes late: that it fails then wakes nobody, and whoever wrote the content has looked.
    const isLate = isAsked || seconds >= PATIENCE_SECONDS;
    return isLate && reporter.inFlight() ? requeueAfter(PATIENCE_SECONDS) : done;
  }
  if (verdict.state === 'failed') {
    await reporter.failed(verdict.message, [RETRYABLE_CONFIGURATION_PROBLEM], { applied });
    await reporter.accept();
    return requeueAfter(60);
  }
  for (const name of leftoverSecrets(secretNames, wanted, live))
    await seed.delete(resources.secrets, { namespace, name });
  await reporter.succeeded(`Flux ${applied.fluxVersion} and its configuration are applied.`, { applied, references });
  await reporter.accept();
  await reporter.finish();
  return done;
}

/**
 * The resource-manager's own next attempt may be a quarter of an hour away, longer than gardenlet waits, and what made
 * it fail may be mended in the shoot. For what is being deleted it looks every 5 s (facts 3.4).
 */
async function tryAgain(seed: KubeClient, live: ManagedResource[]): Promise<void> {
  const failing = live.filter((resource) => {
    const apply = applyState(resource);
    return apply.state === 'failing' && apply.reason !== 'DeletionPending';
  });
  const patch = { metadata: { annotations: { [OPERATION_ANNOTATION]: 'reconcile' } } };
  for (const { metadata } of failing) {
    await unlessGone(seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager }));
  }
}

/** How long the operation under way has been going; an error that is told already gets no more patience. */
export function secondsUnderWay({ reporter, context }: Run): number {
  const last = reporter.current().status?.lastOperation;
  if (last?.state === 'Error') return Number.POSITIVE_INFINITY;
  return last?.state === 'Processing' ? (context.now().getTime() - Date.parse(last.lastUpdateTime)) / 1000 : 0;
}
