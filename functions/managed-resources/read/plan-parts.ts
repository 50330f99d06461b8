import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError, ShootFluxError } from '../../../shared/errors.ts';
import { yieldToOthers } from '../../../shared/event-loop.ts';
import { isCrd } from '../../../shared/flux/custom-resources.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { hasRareFields, objectRuleIssues } from '../../../shared/flux/object-rules.ts';
import type { Release } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../../../shared/kube/system-namespaces.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import { layersHash } from '../plan/config-hash.ts';
import { type PlanInputs, type RenderedObjects, type Synced, syncInputs } from '../plan/plan.ts';
import { renderObjects, withFormerComponents } from '../plan/render.ts';
import { type Obstacle, obstacleOf, type Scope, withKeptMode } from '../plan/scope.ts';
import { secretKeyIssues } from '../plan/secret-keys.ts';
import { leavingObjects, resourceWithFormerContent } from '../plan/sync-objects.ts';
import { areCrdsRejected, chooseVersion, everInstalled, newest } from '../plan/version.ts';
import type { Run } from '../run.ts';
import { type ExistingFlux, readCrdVersions, readInstalledFlux } from '../shoot/installed-flux.ts';
import { confirmSuspended } from '../shoot/suspend.ts';
import { type Configuration, isUnedited } from './configuration.ts';
import { type ControlPlane, readContent } from './control-plane.ts';
import { type CopiedContents, type Missing, readCopiedContents } from './copied-contents.ts';
import { heldBack, isAdoptedByDefault, type Planned } from './followed-again.ts';

/** Everything that a plan is made of. */
export interface PlanParts {
  type: 'plan parts';
  inputs: PlanInputs;
  rendered: RenderedObjects;
  synced: Synced;
  /** The release of the CRDs in the shoot, where it was read. */
  liveVersion: string | undefined;
  /** True: others manage the Flux in the shoot, and the configuration asks to take it over. */
  isForeign: boolean;
}

/**
 * Reads what the configuration names and the Flux that is in the shoot already, chooses the Flux release, and renders the
 * objects.
 */
export async function readPlanParts(
  run: Run,
  controlPlane: ControlPlane,
  configuration: Configuration,
): Promise<PlanParts | Obstacle> {
  const { config, scope, layers } = configuration;
  try {
    const existing = await detectExistingFlux(run, controlPlane, scope, config.flux.namespace);
    const { foreign, liveVersion } = existing;
    if (foreign !== undefined && scope.install && config.adopt !== true) {
      return { type: 'foreign', foreign, record: controlPlane.previous, scope };
    }
    const copies = await readCopiedContents(run, config, layers.secretObjects);
    if ('missing' in copies) return missingCopy(copies, controlPlane, scope);
    const release = await readRelease(run, controlPlane, configuration, existing);
    if (hasListedObjects(config)) await checkSecretKeys(config, copies, release);
    const asked = planInputs(run, controlPlane, configuration, copies, existing, release);
    const { inputs, rendered } = await render(run, controlPlane, asked);
    if (config.objects.length > 0 || [config.source, config.kustomization].some(hasRareFields)) {
      await checkRules(config, release);
    }
    const synced = await readSynced(run, inputs, rendered);
    if ('type' in synced) return synced;
    const complete = await withFormerComponents(inputs, rendered, synced);
    return { type: 'plan parts', inputs, rendered: complete, synced, liveVersion, isForeign: foreign !== undefined };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { previous } = controlPlane;
    const record = previous && withKeptMode(previous, config.syncMode);
    return obstacleOf(error, record, scope, await isUnedited(run, controlPlane, layers));
  }
}

/** What the user of a running Shoot cannot correct does not fail its operations. */
function missingCopy(
  { missing, isOfLandscape }: Missing,
  { previous: record, isBootstrapped }: ControlPlane,
  scope: Scope,
): Obstacle {
  return isOfLandscape === true && isBootstrapped && record !== undefined
    ? { type: 'keep', record, scope, problem: missing }
    : { type: 'wait', sentence: missing };
}

/** Renders the objects; a Shoot whose released objects differ from them is held back at `Once`. */
async function render(run: Run, controlPlane: ControlPlane, inputs: PlanInputs): Promise<Planned> {
  await yieldToOthers();
  const planned = { inputs, rendered: await renderObjects(inputs) };
  await yieldToOthers();
  if (!isAdoptedByDefault(inputs.render.config, controlPlane)) return planned;
  return heldBack(run, controlPlane, planned);
}

/** Reads the former content where the ManagedResource does not hold the rendered one. */
async function readSynced(run: Run, inputs: PlanInputs, rendered: RenderedObjects): Promise<Synced | Obstacle> {
  const sync = syncInputs(inputs, rendered);
  const resource = resourceWithFormerContent(sync);
  const content = resource && (await readContent(run, resource));
  if (resource !== undefined && content === undefined) return { type: 'recreate', resource };
  const former = content?.map((object) => inCurrentVersion(inputs.render.release, object));
  return { former, confirmed: await confirmInShoot(run, leavingObjects({ ...sync, former })) };
}

function checkSecretKeys(config: EffectiveConfig, { secrets }: CopiedContents, release: Release): void {
  const issues = secretKeyIssues(config, secrets, release.version);
  if (issues.length > 0) throw new ConfigError(issues);
}

async function checkRules(config: EffectiveConfig, release: Release): Promise<void> {
  const issues = await objectRuleIssues(config, release);
  if (issues.length > 0) throw new ConfigError(issues);
}

function hasListedObjects({ objects, origins }: EffectiveConfig): boolean {
  return objects.length > 0 || [origins.source, origins.kustomization].some((origin) => origin?.path.includes('s[0]'));
}

/** A shoot that does not answer confirms nothing: the objects stay in the content, suspended. */
async function confirmInShoot(run: Run, leaving: KubeObject[]): Promise<ReadonlySet<string>> {
  if (leaving.length === 0) return new Set();
  try {
    return (await withShoot(run, (shoot) => confirmSuspended(shoot, leaving))) ?? new Set();
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    run.context.log.warn('suspension not confirmed', { error: describeError(error) });
    return new Set();
  }
}

/** Reads the Flux release to install, or, out of scope, the installed one for its CRDs. */
async function readRelease(
  run: Run,
  { previous, live }: ControlPlane,
  { config, scope }: Configuration,
  { liveVersion }: ExistingFlux,
): Promise<Release> {
  const { context, cluster, reporter } = run;
  const isAsked = run.isAsked || reporter.current().status?.state?.upgradingTo !== undefined;
  const distribution = distributionAt(context.settings.fluxDistribution);
  const available = await distribution.versions();
  const kubernetesVersion = cluster.spec.shoot.spec?.kubernetes?.version;
  const allowed = context.settings.policy?.allowedVersions;
  const facts = { config, scope, available, allowed, kubernetesVersion, isAsked };
  try {
    return await distribution.release(chooseVersion({ ...facts, previous, liveVersion }));
  } catch (error) {
    // Only a release that was never installed may be replaced by an older one.
    if (!(error instanceof ConfigError) || !areCrdsRejected(live.get(names.crds))) throw error;
    const crds = await readCrdVersions(run);
    if (crds === undefined) throw error;
    const installed = newest(liveVersion, everInstalled(previous, crds));
    return distribution.release(chooseVersion({ ...facts, previous: undefined, liveVersion: installed }));
  }
}

function planInputs(
  { context: { settings }, cluster }: Run,
  { previous, live }: ControlPlane,
  { config, scope, layers }: Configuration,
  { secrets, configMaps, renewals }: CopiedContents,
  { ownsNamespace }: ExistingFlux,
  release: Release,
): PlanInputs {
  const { shootHealth, policy } = settings;
  const shoot = shootFacts(cluster, settings);
  const shootResources = cluster.spec.shoot.spec?.resources ?? [];
  const hasLandscape = settings.defaults !== undefined || settings.policy !== undefined;
  const render = { config, release, shoot, secrets, configMaps, ownsNamespace, shootHealth, policy };
  return {
    ...{ scope, previous, live, render, shootResources, renewals, reconcileAt: layers.reconcileAt },
    ...(hasLandscape && { layersHash: layersHash(layers) }),
    ...(layers.rollout && { revision: layers.rollout.revision }),
    projectSecrets: [...layers.secretObjects.keys()],
  };
}

/**
 * Asks the shoot whether it has a Flux already. A Shoot that is being created has none, and a recorded answer is not
 * asked for again unless a Flux that was released is adopted. Without a kubeconfig the shoot counts as empty.
 */
async function detectExistingFlux(
  run: Run,
  controlPlane: ControlPlane,
  scope: Scope,
  fluxNamespace: string,
): Promise<ExistingFlux> {
  const { previous } = controlPlane;
  const mayOwn = !SYSTEM_NAMESPACES.includes(fluxNamespace);
  const recorded = previous?.namespace === fluxNamespace ? previous.ownsNamespace : undefined;
  const isCreating = run.cluster.spec.shoot.status?.lastOperation?.type === 'Create';
  const assumed = { ownsNamespace: recorded ?? mayOwn };
  if (!isAdopting(controlPlane, scope) && (recorded !== undefined || isCreating)) return assumed;
  return (await readInstalledFlux(run, fluxNamespace, recorded ?? (mayOwn ? undefined : false))) ?? assumed;
}

/** True when Flux was released and is to be managed again. */
function isAdopting({ isBootstrapped, live }: ControlPlane, scope: Scope): boolean {
  return isBootstrapped && scope.install && !live.has(names.crds);
}

/**
 * Returns an object that was applied with a former release in a version that this one has: an object that is pending
 * removal during an upgrade could not be applied any more, and would never leave.
 */
export function inCurrentVersion({ files }: Pick<Release, 'files'>, object: KubeObject): KubeObject {
  const [group, version] = object.apiVersion.split('/');
  const crd = [...files.values()]
    .flat()
    .find(
      (one) => isCrd(one) && textAt(one.spec, 'group') === group && textAt(one.spec, 'names', 'kind') === object.kind,
    );
  const versions = entriesAt(crd?.spec, 'versions');
  const stored = textAt(
    versions.find(({ storage }) => storage === true),
    'name',
  );
  const isKept = versions.some(({ name, served }) => name === version && served === true);
  return isKept || stored === undefined ? object : { ...object, apiVersion: `${group}/${stored}` };
}
