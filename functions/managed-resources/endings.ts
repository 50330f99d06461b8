import { projectLayers } from '../../shared/config/effective-config.ts';
import { fluxConfigObject } from '../../shared/config/flux-config-map.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { type ConfigError, issueText, RetryableError, withFullStop } from '../../shared/errors.ts';
import { warning } from '../../shared/gardener/event.ts';
import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { HIBERNATED } from '../../shared/gardener/operation.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import type { Applied, ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { releasable } from './plan/changes.ts';
import { writtenDeletionPolicy } from './plan/deletion-policy.ts';
import { managing, namesOutOfScope, type Obstacle } from './plan/scope.ts';
import { readLayers } from './read/configuration.ts';
import {
  type ControlPlane,
  contentNameOf,
  findManagedResource,
  RELEASED,
  releaseObjects,
} from './read/control-plane.ts';
import { oldestDeletion, type Run, waitFor, waitOn } from './run.ts';
import { restartOperator } from './shoot/adopt.ts';
import { leftAlone } from './shoot/installed-flux.ts';
import { removeProtection } from './shoot/protection.ts';
import { notifyShoot } from './shoot-events.ts';

/**
 * Neither the resource-manager nor the shoot's API runs: reports success without touching the shoot (trap 17). Records the
 * written deletion policy: the extension may be removed in the same edit that wakes the Shoot up.
 */
export async function reportHibernated(run: Run): Promise<Outcome> {
  const { reporter } = run;
  const previous = reporter.current().status?.state?.applied;
  if (previous !== undefined) {
    const deletionPolicy = writtenDeletionPolicy(await readLayers(run));
    if (deletionPolicy !== undefined) await reporter.record({ applied: { ...previous, deletionPolicy } });
  }
  await reporter.succeeded(HIBERNATED);
  await reporter.finish();
  return done;
}

/** Releases the Go extension's ManagedResources first, so that none of their objects is deleted or fought over. */
export async function takeOver(run: Run, legacy: KubeObject[]): Promise<Outcome> {
  const { reporter, seed } = run;
  await reporter.processing("Releasing the former extension's ManagedResources to take over from it.");
  await reporter.accept();
  for (const { metadata } of legacy) {
    const live = await findManagedResource(seed, metadata);
    if (live !== undefined) await releaseObjects(seed, live, 'shoot-flux takes over from the former extension');
  }
  return waitOn(run, oldestDeletion(legacy), 2);
}

/** Ends a run that cannot deliver, and reports why. The record first: its deletion policy may be a new one. */
export async function reportObstacle(
  run: Run,
  controlPlane: ControlPlane,
  obstacle: Obstacle,
  layers: ConfigInputs,
): Promise<Outcome> {
  if (controlPlane.previous !== undefined) await run.reporter.record({ applied: controlPlane.previous });
  switch (obstacle.type) {
    case 'reject':
      return reportConfigError(run, obstacle.error, layers);
    case 'keep':
      return keepInScope(run, controlPlane, obstacle);
    case 'foreign':
      return leaveAlone(run, controlPlane, obstacle);
    case 'wait':
      return waitFor(run, obstacle.sentence, { isUnapplied: true });
    case 'recreate':
      return releaseUnreadable(run, obstacle.resource);
  }
}

/** Shows the error on the Extension. Without a requeue: the corrected configuration wakes this function. */
async function reportConfigError(run: Run, error: ConfigError, layers: ConfigInputs): Promise<Outcome> {
  const { reporter } = run;
  const sentence = withFullStop(error.message);
  const isNew = reporter.current().status?.lastError?.description !== sentence;
  // The Event first: a run that is killed in between writes the same Event again.
  if (isNew && showsOnlyInShoots(error, layers)) {
    await notifyShoot(run, warning('InvalidConfiguration', sentence));
  }
  await reporter.failed(sentence, { isUnapplied: true });
  await reporter.accept();
  return done;
}

async function isAdoptionUndone(run: Run): Promise<boolean> {
  const refs = run.reporter.current().status?.state?.adopting;
  if (refs === undefined) return true;
  const undo = async (shoot: KubeClient) => {
    await restartOperator(shoot);
    return removeProtection(run, shoot, refs);
  };
  if ((await withShoot(run, undo)) !== true) return false;
  await run.reporter.record({ adopting: undefined });
  return true;
}

/**
 * Leaves a Flux alone that others manage. The operation succeeds, and project members see why in an Event of the Shoot.
 */
async function leaveAlone(
  run: Run,
  { live }: ControlPlane,
  { foreign, record, scope }: Extract<Obstacle, { type: 'foreign' }>,
): Promise<Outcome> {
  const sentence = leftAlone(foreign);
  if (!(await isAdoptionUndone(run))) return requeueAfter(5);
  await notifyShoot(run, warning('ForeignFlux', sentence));
  if (record !== undefined) {
    // A plan may have been recorded before the mark was there. After a migration nothing is live, and the record counts.
    const isGone = (name: string) => live.size > 0 && managing(live, name) === undefined;
    const applied = without(record, [...namesOutOfScope(scope), ...Object.values(names).filter(isGone)], sentence);
    const isRecorded = (name: string) => applied.managedResources[name] !== undefined;
    // Also what is not applied yet: it would be applied over the Flux of others.
    const left = Object.values(names).flatMap((name) => (isRecorded(name) ? [] : (live.get(name) ?? [])));
    return keepLastApplied(run, applied, left, 'others manage Flux in the shoot');
  }
  await run.reporter.record({ foreign: sentence });
  await run.reporter.succeeded(sentence);
  await run.reporter.finish();
  return done;
}

/** Leaves the last applied objects unchanged, but releases those out of scope. */
function keepInScope(
  run: Run,
  { live }: ControlPlane,
  { record, scope, problem }: Extract<Obstacle, { type: 'keep' }>,
): Promise<Outcome> {
  const released = namesOutOfScope(scope);
  return keepLastApplied(run, without(record, released, problem), releasable(released, live), RELEASED);
}

/** Returns the record without some of its ManagedResources. */
function without(record: Applied, released: string[], problem: string): Applied {
  const kept = Object.entries(record.managedResources).filter(([name]) => !released.includes(name));
  return { ...record, managedResources: Object.fromEntries(kept), problem };
}

/** Records what is kept, and releases the rest. `readiness` publishes the problem. */
async function keepLastApplied(
  { reporter, seed }: Run,
  applied: Applied,
  released: ManagedResource[],
  reason: string,
): Promise<Outcome> {
  await reporter.succeeded('The last applied configuration is kept.', { applied });
  await reporter.accept();
  for (const resource of released) await releaseObjects(seed, resource, reason);
  await reporter.finish();
  return done;
}

/**
 * Releases a ManagedResource without its content: nothing of it can be suspended, and a new content would prune. The
 * record has what it has applied from now on, as after a migration.
 */
async function releaseUnreadable({ seed, namespace, reporter }: Run, resource: ManagedResource): Promise<never> {
  const applied = reporter.current().status?.state?.applied;
  if (applied !== undefined) await reporter.record({ applied: { ...applied, surplus: applied.surplus ?? [] } });
  await releaseObjects(seed, resource, 'its content cannot be read');
  const { name } = resource.metadata;
  const content = contentNameOf(resource);
  const problem =
    content === ''
      ? `ManagedResource ${namespace}/${name} names no Secret`
      : `Secret ${namespace}/${content} of ManagedResource ${name} is missing or was changed`;
  throw new RetryableError(`${problem}; the ManagedResource is released and recreated.`);
}

/** Returns whether `flux-config` has an issue that `keys`, which reads it alone, does not report on the ConfigMap. */
export function showsOnlyInShoots({ issues }: ConfigError, { fluxConfig }: ConfigInputs): boolean {
  if (fluxConfig === undefined) return false;
  const object = fluxConfigObject(fluxConfig.namespace);
  // A refusal by the policy has a rule, and is reported on the ConfigMap.
  const suspects = issues.filter((issue) => issue.object === object && issue.rule === undefined);
  if (suspects.length === 0) return false;
  const reported = new Set(projectLayers(fluxConfig, undefined).issues.map(issueText));
  return suspects.some((issue) => !reported.has(issueText(issue)));
}
