import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { originOf } from '../../shared/config/origins.ts';
import type { ConfigInputs, EffectiveConfig } from '../../shared/config/types.ts';
import { ConfigError, RetryableError } from '../../shared/errors.ts';
import { distributionAt } from '../../shared/flux/distribution.ts';
import type { Distribution } from '../../shared/flux/release.ts';
import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../shared/gardener/error-codes.ts';
import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { shootFacts } from '../../shared/gardener/shoot-facts.ts';
import type { Applied, ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { deliverByManagedResource } from './deliver/by-managed-resource.ts';
import { deliverDirectly } from './deliver/directly.ts';
import { withNextCheck } from './deliver/next-check.ts';
import { waitFor } from './deliver/wait.ts';
import { releasable } from './plan/changes.ts';
import { renderHash } from './plan/config-hash.ts';
import { chooseDelivery } from './plan/delivery.ts';
import { hasDirectSurplus } from './plan/direct.ts';
import { makePlan, type Plan, type PlanInputs, renderObjects } from './plan/plan.ts';
import { areOutOfScope, namesOutOfScope, updateScope } from './plan/scope.ts';
import { resourceWithFormerContent } from './plan/sync-objects.ts';
import { areCrdsRejected, chooseVersion } from './plan/version.ts';
import {
  type ControlPlane,
  contentNameOf,
  readConfigInputs,
  readContent,
  readControlPlane,
} from './read/control-plane.ts';
import { readCopiedContents } from './read/copied-contents.ts';
import { detectExistingFlux } from './read/existing-flux.ts';
import { release } from './release.ts';
import type { Run } from './run.ts';

/**
 * Handles Create, Reconcile and Restore: reads, decides the scope, plans, and delivers the plan. Each delivery records
 * the plan before its first write and reports at the end. Nothing in here waits.
 */
export async function reconcile(run: Run): Promise<Outcome> {
  if (run.cluster.spec.shoot.spec?.hibernation?.enabled === true) return reportHibernated(run);

  const controlPlane = await readControlPlane(run);
  if (controlPlane.legacy.length > 0) return takeOver(run, controlPlane.legacy);

  const decision = await decide(run, controlPlane);
  if (decision.type === 'reject') return reportConfigError(run, decision.error);
  if (decision.type === 'wait') return waitFor(run, decision.sentence);
  if (decision.type === 'keep') return keepLastApplied(run, controlPlane, decision.record, decision.problem);
  if (decision.type === 'recreate') return releaseUnreadable(run, decision.resource);

  const { plan } = decision;
  const { previous, live } = controlPlane;
  const delivery = chooseDelivery(run.context.settings.delivery, previous, live);
  if (delivery === 'ManagedResource' && hasDirectSurplus(plan, previous)) {
    const outcome = await deliverDirectly(run, plan, controlPlane);
    return outcome.type === 'done' ? requeueAfter(2) : outcome;
  }
  const deliver = delivery === 'Direct' ? deliverDirectly : deliverByManagedResource;
  return withNextCheck(run, plan, await deliver(run, plan, controlPlane));
}

type Decision =
  | { type: 'deliver'; plan: Plan }
  /** The user has to correct the configuration. */
  | { type: 'reject'; error: ConfigError }
  /** Something that the configuration names is not there yet. */
  | { type: 'wait'; sentence: string }
  /** The last applied objects stay unchanged, and why. */
  | { type: 'keep'; record: Applied; problem: string }
  /** The content of a ManagedResource is unreadable. */
  | { type: 'recreate'; resource: ManagedResource };

/** Reads the configuration and everything that it names, decides the scope, and plans. */
async function decide(run: Run, controlPlane: ControlPlane): Promise<Decision> {
  const { context, cluster, isAsked } = run;
  const { shoot } = cluster.spec;
  const { previous, isBootstrapped, live } = controlPlane;
  const inputs = await readConfigInputs(run);
  const distribution = distributionAt(context.settings.fluxDistribution);
  if (isBootstrapped && previous?.fromFluxConfig === true && inputs.fluxConfig === undefined) {
    const isSame = await asksForTheSame(inputs, previous, distribution);
    if (!isSame) return { type: 'keep', record: previous, problem: CONFIG_MAP_DELETED };
  }

  // The sync mode of an invalid configuration is unknown; the recorded one counts then.
  let scope = updateScope(previous?.syncMode ?? 'Reconcile', isBootstrapped, previous);
  try {
    const config = effectiveConfig(inputs);
    scope = updateScope(config.syncMode, isBootstrapped, previous);
    if (isBootstrapped) rejectOtherNamespace(config, previous);
    const copies = await readCopiedContents(run, config);
    if ('missing' in copies) return { type: 'wait', sentence: copies.missing };
    const { liveVersion, ownsNamespace } = await detectExistingFlux(run, controlPlane, scope, config.flux.namespace);
    const version = chooseVersion({
      config,
      scope,
      previous,
      liveVersion,
      areCrdsRejected: areCrdsRejected(previous, live.get(names.crds)),
      available: await distribution.versions(),
      kubernetesVersion: shoot.spec?.kubernetes?.version,
      isAsked,
    });

    const { secrets, configMaps, renewals } = copies;
    const { shootHealth } = context.settings;
    const release = await distribution.release(version);
    const facts = shootFacts(cluster, context.settings);
    const render = { config, release, shoot: facts, secrets, configMaps, ownsNamespace, shootHealth };
    const shootResources = shoot.spec?.resources ?? [];
    const planInputs: PlanInputs = { scope, previous, live, render, shootResources, renewals };
    const rendered = renderObjects(planInputs);
    const changing = resourceWithFormerContent(rendered.sync);
    const former = changing && (await readContent(run, changing));
    if (changing !== undefined && former === undefined) return { type: 'recreate', resource: changing };
    return { type: 'deliver', plan: makePlan(planInputs, rendered, former) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (previous === undefined || !areOutOfScope(error.issues, scope)) return { type: 'reject', error };
    return { type: 'keep', record: previous, problem: error.message };
  }
}

/** The deletion of the ConfigMap after the first success is reported and not followed. */
const CONFIG_MAP_DELETED =
  'ConfigMap flux-config was deleted after the first success; the last applied configuration is kept until the ConfigMap exists again.';

/** True when the providerConfig alone asks for what is applied, so that nothing was lost with the ConfigMap. */
async function asksForTheSame(inputs: ConfigInputs, previous: Applied, distribution: Distribution): Promise<boolean> {
  try {
    const release = await distribution.release(previous.fluxVersion);
    return renderHash(effectiveConfig(inputs), release) === previous.configHash;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

function rejectOtherNamespace(config: EffectiveConfig, previous: Applied | undefined): void {
  if (previous === undefined || previous.namespace === config.flux.namespace) return;
  const message =
    `cannot change after the first success; set it back to "${previous.namespace}", ` +
    'or remove the extension from the Shoot and add it again';
  throw new ConfigError([{ ...originOf(config.origins, 'flux.namespace'), message }]);
}

/** Neither the resource-manager nor the shoot's API runs: reports success without touching the shoot (trap 17). */
async function reportHibernated({ reporter }: Run): Promise<Outcome> {
  await reporter.succeeded('The Shoot is hibernated; changes are applied when it wakes up.');
  await reporter.finish();
  return done;
}

/** Releases the Go extension's ManagedResources first, so that none of their objects is deleted or fought over. */
async function takeOver({ reporter, seed }: Run, legacy: KubeObject[]): Promise<Outcome> {
  await reporter.processing("Releasing the former extension's ManagedResources to take over from it.");
  await reporter.accept();
  for (const { metadata } of legacy) {
    const live = await seed.find<ManagedResource>(resources.managedResources, metadata);
    if (live !== undefined) await release(seed, live);
  }
  return requeueAfter(2);
}

/** Shows the error on the Extension. Without a requeue: the corrected configuration wakes this function. */
async function reportConfigError({ reporter }: Run, error: ConfigError): Promise<Outcome> {
  await reporter.failed(error.message, [RETRYABLE_CONFIGURATION_PROBLEM]);
  await reporter.accept();
  return done;
}

/**
 * Leaves the last applied objects unchanged, but still releases those that the recorded sync mode puts out of scope.
 * The problem goes into the record, and `readiness` publishes it.
 */
async function keepLastApplied(
  { reporter, seed }: Run,
  { isBootstrapped, live }: ControlPlane,
  previous: Applied,
  problem: string,
): Promise<Outcome> {
  const released = namesOutOfScope(updateScope(previous.syncMode, isBootstrapped, previous));
  const managedResources = Object.fromEntries(
    Object.entries(previous.managedResources).filter(([name]) => !released.includes(name)),
  );
  const applied = { ...previous, managedResources, problem };
  await reporter.succeeded('The last applied configuration is kept.', { applied });
  await reporter.accept();
  for (const resource of releasable(released, live)) await release(seed, resource);
  await reporter.finish();
  return done;
}

/** Releases a ManagedResource without its content: nothing of it can be suspended, and a new content would prune. */
async function releaseUnreadable({ seed, namespace }: Run, resource: ManagedResource): Promise<never> {
  await release(seed, resource);
  throw new RetryableError(
    `Secret ${namespace}/${contentNameOf(resource)} of ManagedResource ${resource.metadata.name} is missing or was changed; the ManagedResource is released and recreated.`,
  );
}
