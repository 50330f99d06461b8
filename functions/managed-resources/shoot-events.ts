import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import { createEvent, eventAbout, type Notice, normal, warning } from '../../shared/gardener/event.ts';
import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Plan } from './plan/plan.ts';
import { fieldManager } from './read/control-plane.ts';
import type { Run } from './run.ts';

/** Reports something as an Event of the Shoot in the garden, best effort. The same sentence is one Event. */
export async function notifyShoot({ cluster, context }: Run, notice: Notice): Promise<void> {
  const event = eventAbout(resources.shoots, cluster.spec.shoot.metadata, notice, context.now());
  try {
    await createEvent(await context.kube(GARDEN), event, fieldManager);
  } catch (error) {
    context.log.warn('event of the shoot not written', { error: describeError(error) });
  }
}

/**
 * Reports what an upgrade of Flux changes, as Events of the Shoot, before anything of the release reaches the shoot. A
 * migration of stored objects takes many runs; its record says that the first of them has reported.
 * @param from the release that runs; undefined: none
 */
export async function announceUpgrade(run: Run, { record, contents }: Plan, from: string | undefined): Promise<void> {
  if (from === undefined || from === record.fluxVersion || !contents.has(names.crds)) return;
  if (run.reporter.current().status?.state?.upgradingTo === record.fluxVersion) return;
  for (const change of behaviourChanges(from, record.fluxVersion, record.components)) {
    const message = `Flux is upgraded from ${from} to ${record.fluxVersion}. ${behaviourText(change)}`;
    await notifyShoot(run, normal('FluxUpgrade', message));
  }
}

/**
 * Reports new warnings of the configuration as one Event of the Shoot. Called before they are recorded: a run that is
 * killed in between writes the same Event again.
 */
export async function announceWarnings(run: Run, { record }: Plan, previous: Applied | undefined): Promise<void> {
  const added = record.warnings?.filter((warning) => previous?.warnings?.includes(warning) !== true) ?? [];
  if (added.length === 0) return;
  const message = added.map((warning) => `${warning}.`).join(' ');
  await notifyShoot(run, warning('ConfigurationWarning', message));
}
