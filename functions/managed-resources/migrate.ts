import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../shared/gardener/error-codes.ts';
import { isCurrent, managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { applyAgain, retryApply } from './deliver/retry.ts';
import { rejectsStoredVersions } from './plan/dropped-versions.ts';
import type { Plan } from './plan/plan.ts';
import type { ControlPlane } from './read/control-plane.ts';
import { type Run, retryLater } from './run.ts';
import { migrateStored } from './shoot/migrate.ts';

/**
 * Migrates stored objects before the CRDs of another release are delivered (decision 58). Until that is done, nothing of
 * the release reaches the shoot, and the installed one keeps running.
 * @returns undefined when the plan can be delivered
 */
export async function migrateStoredObjects(
  run: Run,
  plan: Plan,
  { live, previous }: ControlPlane,
): Promise<Outcome | undefined> {
  const { context, isTimeUp, reporter, seed } = run;
  const crds = plan.contents.get(names.crds) ?? [];
  const { fluxVersion } = plan.record;
  // An earlier run has begun a migration, maybe to another release: what it has changed is not in the ManagedResource.
  const { upgradingTo } = reporter.current().status?.state ?? {};
  const hasBegun = upgradingTo !== undefined || (previous !== undefined && previous.fluxVersion !== fluxVersion);
  const begin = async (sentence: string) => {
    // Once: a shoot that refuses must not go back and forth between Processing and Error. A record of the release says the same.
    const isKnown = upgradingTo === fluxVersion || previous?.fluxVersion === fluxVersion;
    if (!isKnown) await reporter.processing(sentence, { upgradingTo: fluxVersion });
  };
  const task = { crds, fluxVersion, now: context.now(), isTimeUp, begin };
  const migrated = await withShoot(run, (shoot) => migrateStored(shoot, task));
  switch (migrated?.state) {
    case 'unfinished':
      await reporter.processing(migrated.sentence, { upgradingTo: fluxVersion });
      await reporter.accept();
      return requeueAfter(migrated.recheckInSeconds);
    case 'refused':
      await reporter.failed(migrated.sentence, [RETRYABLE_CONFIGURATION_PROBLEM], { upgradingTo: fluxVersion });
      await reporter.accept();
      return retryLater(run);
    default: {
      // Without a kubeconfig, the API server decides. Another content is written anyway, guarded by the version that was read.
      const rejected = live.get(names.crds);
      const isWritten = isCurrent(rejected, plan.record.managedResources[names.crds] ?? '');
      if (migrated !== undefined && rejected !== undefined && isWritten) {
        if (hasBegun) await applyAgain(seed, rejected);
        else if (rejectsStoredVersions(rejected)) await retryApply(seed, [rejected]);
      }
      return undefined;
    }
  }
}
