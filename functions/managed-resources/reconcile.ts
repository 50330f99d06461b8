import { ConfigError } from '../../shared/errors.ts';
import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../shared/gardener/error-codes.ts';
import type { Applied, ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliveryOf } from './delivery.ts';
import { followed, isBootstrapped, unfollowedNames } from './desired/follow.ts';
import { releasable } from './desired/plan.ts';
import { type Wanted, wantedState } from './desired/wanted.ts';
import { settleDirectly } from './direct/direct.ts';
import { leavesDirectly } from './direct/direct-plan.ts';
import { withNextLook } from './progress/next-look.ts';
import { settle } from './progress/settle.ts';
import { waitFor } from './progress/waiting.ts';
import { readFirstRun, readManagedResources } from './read.ts';
import type { Run } from './run.ts';
import { release } from './write.ts';

/** Create, reconcile and restore: read, decide, write the differences, report. Nobody waits in here. */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return sleep(run);

  const previous = run.extension.status?.state?.applied;
  const { live, legacy } =
    previous === undefined
      ? await readFirstRun(run.seed, run.namespace)
      : { live: await readManagedResources(run.seed, run.namespace), legacy: [] };
  if (legacy.length > 0) return takeOver(run, legacy);

  let wanted: Wanted;
  try {
    wanted = await wantedState(run, previous, live);
  } catch (error) {
    if (error instanceof ConfigError) return userError(run, error);
    throw error;
  }
  if (wanted.type === 'missing') return waitFor(run, wanted.sentence);
  if (wanted.type === 'kept') return keep(run, live, wanted.applied, wanted.problem);
  const delivery = deliveryOf(run.context.settings.delivery, previous, live);
  if (delivery === 'ManagedResource' && leavesDirectly(wanted, previous)) {
    await settleDirectly(run, wanted, live);
    return requeueAfter(2);
  }
  const outcome = await (delivery === 'Direct' ? settleDirectly(run, wanted, live) : settle(run, wanted, live));
  return withNextLook(run, wanted, outcome);
}

/** Neither resource-manager nor shoot API run: success without touching the shoot (trap 17). */
async function sleep(run: Run): Promise<Outcome> {
  await run.reporter.succeeded('The Shoot is hibernated; Flux follows when it wakes up.');
  await run.reporter.accept();
  await run.reporter.finish();
  return done;
}

/** The Go extension's ManagedResources let go first, so that nothing of theirs is deleted or fought over. */
async function takeOver(run: Run, legacy: KubeObject[]): Promise<Outcome> {
  await run.reporter.processing("Taking over from the former extension's ManagedResources.");
  await run.reporter.accept();
  for (const { metadata } of legacy) {
    const live = await run.seed.find<ManagedResource>(resources.managedResources, metadata);
    if (live !== undefined) await release(run.seed, live);
  }
  return requeueAfter(2);
}

/** The user learns it where they look. Nothing is retried hot: the mended configuration wakes this function. */
async function userError(run: Run, error: ConfigError): Promise<Outcome> {
  await run.reporter.failed(error.message, [RETRYABLE_CONFIGURATION_PROBLEM]);
  await run.reporter.accept();
  return done;
}

/**
 * The last applied stays as it is, except that the mode still lets go of what it does not follow; what is wrong is
 * recorded and published by `readiness`.
 */
async function keep(
  run: Run,
  live: Map<string, ManagedResource>,
  previous: Applied,
  problem: string,
): Promise<Outcome> {
  const released = unfollowedNames(followed(previous.syncMode, isBootstrapped(run.extension), previous));
  const managedResources = Object.fromEntries(
    Object.entries(previous.managedResources).filter(([name]) => !released.includes(name)),
  );
  const applied = { ...previous, managedResources, problem };
  await run.reporter.succeeded('The last applied configuration stays.', { applied });
  await run.reporter.accept();
  for (const resource of releasable(released, live)) await release(run.seed, resource);
  await run.reporter.finish();
  return done;
}
