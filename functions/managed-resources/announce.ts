import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import { notifyShoot } from './notify-shoot.ts';
import type { Plan } from './plan/plan.ts';
import type { Run } from './run.ts';

/**
 * Reports what an upgrade of Flux changes, as Events of the Shoot in the garden, before anything of the release reaches
 * the shoot. Safe to repeat: the same sentence is one Event. A migration of stored objects takes many runs; its record
 * says that the first of them has reported.
 * @param from the release that runs
 */
export async function announceUpgrade(run: Run, from: string, { record }: Pick<Plan, 'record'>): Promise<void> {
  if (run.reporter.current().status?.state?.upgradingTo === record.fluxVersion) return;
  for (const change of behaviourChanges(from, record.fluxVersion, record.components)) {
    const message = `Flux is upgraded from ${from} to ${record.fluxVersion}. ${behaviourText(change)}`;
    await notifyShoot(run, { type: 'Normal', reason: 'FluxUpgrade', message });
  }
}
