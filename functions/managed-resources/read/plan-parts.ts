import { DEFAULTS } from '../../../shared/config/defaults.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError, type ConfigIssue } from '../../../shared/errors.ts';
import type { CrdSchema } from '../../../shared/flux/crd-schema.ts';
import { customResourceIn, isCrd } from '../../../shared/flux/custom-resources.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { objectRuleIssues } from '../../../shared/flux/object-rules.ts';
import type { Release, RenderInputs } from '../../../shared/flux/release.ts';
import { objectGroups } from '../../../shared/gardener/groups.ts';
import { ipv6Warnings } from '../../../shared/gardener/ipv6-only.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, SYSTEM_NAMESPACES } from '../../../shared/kube/resource.ts';
import { entriesAt, isRecord, textAt } from '../../../shared/shapes.ts';
import { withSuspension } from '../deliver/suspension.ts';
import { stateOf } from '../plan/changes.ts';
import { layersHash } from '../plan/config-hash.ts';
import {
  leavingObjects,
  type PlanInputs,
  planSyncObjects,
  type RenderedObjects,
  resourceWithFormerContent,
  type Synced,
  syncInputs,
  withComponents,
} from '../plan/plan.ts';
import { managing, type Obstacle, obstacleOf, type Scope, withKeptMode } from '../plan/scope.ts';
import { secretKeyIssues } from '../plan/secret-keys.ts';
import { chooseVersion, everInstalled, newest, type VersionInputs } from '../plan/version.ts';
import type { Run } from '../run.ts';
import { tryInShoot } from '../shoot/act.ts';
import { type ExistingFlux, readCrdVersions, readInstalledFlux } from '../shoot/installed-flux.ts';
import { kindsOf, resourceOf, storedVersion } from '../shoot/objects.ts';
import { confirmSuspended } from '../shoot/suspend.ts';
import { type Configuration, isUnedited } from './configuration.ts';
import { type ControlPlane, readContent } from './control-plane.ts';
import { type CopiedContents, readCopiedContents } from './copied-contents.ts';
import { NAMESPACE_UNKNOWN, withKeptNamespace } from './target-namespace.ts';

/** What a plan is made of. */
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
 * Reads what the configuration names and the Flux that is in the shoot, chooses the release, and renders the objects.
 */
export async function readPlanParts(
  run: Run,
  controlPlane: ControlPlane,
  written: Configuration,
): Promise<PlanParts | Obstacle> {
  const { scope, layers } = written;
  const { previous, isBootstrapped } = controlPlane;
  const config = await withKeptNamespace(run, controlPlane, written);
  if (config === undefined) return { type: 'wait', sentence: NAMESPACE_UNKNOWN };
  const configuration = { ...written, config };
  try {
    const existing = await detectExistingFlux(run, controlPlane, scope, config.flux.namespace);
    const { foreign, liveVersion } = existing;
    if (foreign !== undefined && scope.install && config.adopt !== true) {
      return { type: 'foreign', foreign, record: previous, scope: { ...scope, install: false } };
    }
    const copies = await readCopiedContents(run, config, layers.secretObjects);
    if ('missing' in copies) {
      const { missing, isOfLandscape } = copies;
      // What the user of a running Shoot cannot correct does not fail its operations.
      const isKept = isOfLandscape === true && isBootstrapped && previous !== undefined;
      return isKept ? { type: 'keep', record: previous, scope, problem: missing } : { type: 'wait', sentence: missing };
    }
    const chosen = await readRelease(run, controlPlane, configuration, existing);
    const { release } = chosen;
    refuse(secretKeyIssues(config, copies.secrets, release.version));
    const asked = planInputs(run, controlPlane, configuration, copies, existing, chosen);
    const wanted = renderObjects(asked);
    const kept = await keptAtOnce(run, controlPlane, asked, withSuspension(wanted.groups.sync, undefined));
    const inputs = kept ?? asked;
    const rendered = kept === undefined ? wanted : renderObjects(kept);
    refuse(await objectRuleIssues(config, release));
    const synced = await readSynced(run, inputs, rendered);
    if ('type' in synced) return synced;
    const complete = withFormerComponents(inputs, rendered, synced);
    return { type: 'plan parts', inputs, rendered: complete, synced, liveVersion, isForeign: foreign !== undefined };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const record = previous && withKeptMode(previous, config.syncMode);
    return obstacleOf(error, record, scope, await isUnedited(run, controlPlane, layers));
  }
}

function refuse(issues: ConfigIssue[]): void {
  if (issues.length > 0) throw new ConfigError(issues);
}

/**
 * Renders the objects that the configuration asks for; only a difference from these makes a run read the former content.
 * Out of scope, Flux keeps the components that it was installed with.
 * @throws ConfigError as `objectGroups` does
 */
function renderObjects({ scope, previous, render, suspension }: PlanInputs): RenderedObjects {
  const configured = render.config.flux.components;
  return renderedWith(scope.install ? configured : (previous?.components ?? configured), render, suspension);
}

/** Adds the former components while objects are pending removal: their controllers have to remove the finalizers. */
function withFormerComponents(inputs: PlanInputs, wanted: RenderedObjects, synced: Synced): RenderedObjects {
  const { previous, live, render, suspension } = inputs;
  const { objects, pendingRemoval } = planSyncObjects({ ...syncInputs(inputs, wanted), ...synced });
  const isRemoving = pendingRemoval.length > 0 || (objects.length === 0 && live.has(names.sync));
  const former = previous?.components.filter((component) => render.release.files.has(component)) ?? [];
  const components = [...new Set([...wanted.components, ...(isRemoving ? former : [])])];
  return components.length === wanted.components.length ? wanted : renderedWith(components, render, suspension);
}

function renderedWith(components: string[], render: RenderInputs, suspension: string | undefined): RenderedObjects {
  const groups = objectGroups({ ...render, config: withComponents(render.config, components) });
  return { components, groups: { ...groups, sync: withSuspension(groups.sync, suspension) } };
}

/** Reads the former content where the ManagedResource does not hold the rendered one. */
async function readSynced(run: Run, inputs: PlanInputs, rendered: RenderedObjects): Promise<Synced | Obstacle> {
  const sync = syncInputs(inputs, rendered);
  const resource = resourceWithFormerContent(sync);
  const content = resource && (await readContent(run, resource));
  if (resource !== undefined && content === undefined) return { type: 'recreate', resource };
  const former = content?.map((object) => inCurrentVersion(inputs.render.release, object));
  const leaving = leavingObjects({ ...sync, former });
  // A shoot that does not answer confirms nothing: the objects stay in the content, suspended.
  const confirm = (shoot: KubeClient) => confirmSuspended(shoot, leaving);
  const confirmed = leaving.length === 0 ? undefined : await tryInShoot(run, 'suspension not confirmed', confirm);
  return { former, confirmed: confirmed ?? new Set() };
}

type ChosenRelease = Awaited<ReturnType<typeof readRelease>>;

/** @returns also a warning where the release does not support the Shoot's Kubernetes */
async function readRelease(
  run: Run,
  { previous, live }: ControlPlane,
  { config, scope, layers }: Configuration,
  { liveVersion }: ExistingFlux,
) {
  const { context, cluster, reporter } = run;
  const { given, landscape } = layers;
  // In its turn a Shoot gets all that the operators have given it.
  const isTurn = given !== undefined && given.revision !== previous?.landscape;
  const isAsked = run.isAsked || isTurn || reporter.current().status?.state?.upgradingTo !== undefined;
  const distribution = distributionAt(context.settings.fluxDistribution);
  const there = await distribution.versions();
  const available = there.filter((version) => given?.documents.releases.includes(version) ?? true);
  const kubernetesVersion = cluster.spec.shoot.spec?.kubernetes?.version;
  const facts = { config, scope, available, policy: landscape?.policy, kubernetesVersion, isAsked };
  const choose = async (found: Pick<VersionInputs, 'previous' | 'liveVersion'>) => {
    const { version, warnings = [] } = chooseVersion({ ...facts, ...found });
    return { release: await distribution.release(version), warnings };
  };
  try {
    return await choose({ previous, liveVersion });
  } catch (error) {
    // A release that the operators have taken back (decision 96). Users who ask for an older one get an error, as ever.
    const writtenIn = config.origins['flux.version']?.object;
    const isOfUsers = writtenIn !== undefined && writtenIn !== DEFAULTS;
    const isTaken = isTurn && !(isOfUsers && available.includes(previous?.fluxVersion ?? ''));
    const taken = isTaken ? previous?.fluxVersion : undefined;
    if (error instanceof ConfigError && taken !== undefined && there.includes(taken)) {
      const former = await choose({ previous: undefined, liveVersion: undefined });
      if (hasAllCrds(former.release, await distribution.release(taken))) return former;
    }
    // Only a release that was never installed may be replaced by an older one.
    if (!(error instanceof ConfigError) || stateOf(live.get(names.crds)) !== 'failing') throw error;
    const crds = await readCrdVersions(run);
    if (crds === undefined) throw error;
    const installed = newest(liveVersion, everInstalled(previous, crds));
    return choose({ previous: undefined, liveVersion: installed });
  }
}

/** Returns whether a release has each CRD of another one: without one of them, its objects in the shoot would be deleted. */
function hasAllCrds(release: Release, other: Release): boolean {
  const crdsOf = ({ files }: Release) =>
    [...files.values()]
      .flat()
      .filter(isCrd)
      .map(({ metadata }) => metadata.name);
  const names = new Set(crdsOf(release));
  return crdsOf(other).every((name) => names.has(name));
}

function planInputs(
  { context: { settings }, cluster }: Run,
  { previous, live, isBootstrapped }: ControlPlane,
  { config: read, scope, layers }: Configuration,
  { secrets, configMaps, renewals }: CopiedContents,
  { ownsNamespace }: ExistingFlux,
  { release, warnings: ofRelease }: ChosenRelease,
): PlanInputs {
  const { shootHealth } = settings;
  const { policy, defaults, addons } = layers.landscape ?? {};
  const hasLandscape = (defaults ?? policy ?? addons) !== undefined;
  const shoot = shootFacts(cluster, settings);
  // Once Flux was Ready, the network of the Shoot is known to reach what it needs.
  const ofNetwork = isBootstrapped ? [] : ipv6Warnings(read, cluster.spec.shoot);
  const warnings = [...ofRelease, ...ofNetwork];
  const config = warnings.length === 0 ? read : { ...read, warnings: [...warnings, ...(read.warnings ?? [])] };
  return {
    ...{ scope, previous, live, renewals, reconcileAt: layers.reconcileAt },
    suspension: layers.suspension,
    render: { config, release, shoot, secrets, configMaps, ownsNamespace, shootHealth, policy },
    shootResources: cluster.spec.shoot.spec?.resources ?? [],
    layersHash: hasLandscape ? layersHash(layers) : undefined,
    revision: layers.rollout?.revision,
    landscape: layers.given?.revision,
    projectSecrets: [...layers.secretObjects.keys()],
  };
}

/**
 * Asks the shoot whether it has a Flux already, unless it is being created, or the answer is recorded and no released
 * Flux is adopted. Without a kubeconfig the shoot counts as empty.
 */
async function detectExistingFlux(
  run: Run,
  { previous, isBootstrapped, live }: ControlPlane,
  scope: Scope,
  fluxNamespace: string,
): Promise<ExistingFlux> {
  // One that the record has dropped may still be live: it is released only once it is applied.
  const isOurs = previous?.managedResources[names.crds] !== undefined && managing(live, names.crds) !== undefined;
  // Released before, and to be managed again.
  const isAdopting = isBootstrapped && scope.install && !isOurs;
  const mayOwn = !SYSTEM_NAMESPACES.includes(fluxNamespace);
  const recorded = previous?.namespace === fluxNamespace ? previous.ownsNamespace : undefined;
  const isCreating = run.cluster.spec.shoot.status?.lastOperation?.type === 'Create';
  const assumed = { ownsNamespace: recorded ?? mayOwn };
  if (!isAdopting && (recorded !== undefined || isCreating)) return assumed;
  return (await readInstalledFlux(run, fluxNamespace, recorded ?? (mayOwn ? undefined : false))) ?? assumed;
}

/**
 * Returns an object that was applied with a former release in a version that this one has: pending removal, it could not
 * be applied any more, and would never leave.
 */
export function inCurrentVersion({ files }: Pick<Release, 'files'>, object: KubeObject): KubeObject {
  const [group, version] = object.apiVersion.split('/');
  const isIts = (one: KubeObject) =>
    isCrd(one) && textAt(one.spec, 'group') === group && textAt(one.spec, 'names', 'kind') === object.kind;
  const crd = [...files.values()].flat().find(isIts);
  const stored = storedVersion(crd);
  const isKept = entriesAt(crd?.spec, 'versions').some(({ name, served }) => name === version && served === true);
  return isKept || stored === undefined ? object : { ...object, apiVersion: `${group}/${stored}` };
}

/**
 * True where source and Kustomization were released to the user, and no user has asked to follow the configuration again:
 * only the default of `syncMode` says so (decision 52).
 */
export function isFollowedByDefault(
  { syncMode, origins }: EffectiveConfig,
  { previous, isBootstrapped, live }: Omit<ControlPlane, 'legacy'>,
): boolean {
  const wasReleased = isBootstrapped && (previous === undefined || previous.syncMode === 'Once');
  const isReleased = managing(live, names.sync) === undefined;
  return wasReleased && syncMode !== 'Once' && origins.syncMode === undefined && isReleased;
}

/**
 * True when writing the wanted value would change nothing: beside it, the live one has only defaults. Applied over a
 * changed Kustomization, even an unchanged configuration could make Flux prune what that change has deployed.
 */
export function isAsWritten(wanted: unknown, live: unknown, schema: CrdSchema | undefined): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((entry, index) => isAsWritten(entry, live[index], schema?.items));
  }
  if (!isRecord(wanted) || !isRecord(live)) return wanted === live;
  if (Object.keys(wanted).some((field) => !Object.hasOwn(live, field))) return false;
  return Object.entries(live).every(([field, value]) => {
    const below = schemaOf(schema, field);
    if (Object.hasOwn(wanted, field)) return isAsWritten(wanted[field], value, below);
    return below?.default !== undefined && isAsWritten(below.default, value, below);
  });
}

function schemaOf({ properties = {}, additionalProperties }: CrdSchema = {}, field: string): CrdSchema | undefined {
  if (Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Shown on the Extension; both remedies are one key. */
const DIFFERENT =
  'Source or Kustomization in the shoot differ from the configuration, so they are left unchanged; ' +
  'set syncMode to ManifestsOnly to replace them, or to Once to keep them.';

/**
 * Keeps a Shoot at `Once` that follows by default, while its released objects differ from those that would be written.
 * @returns undefined when they are the same, or the Shoot follows because a user has asked for it
 */
async function keptAtOnce(
  run: Run,
  controlPlane: ControlPlane,
  inputs: PlanInputs,
  wanted: KubeObject[],
): Promise<PlanInputs | undefined> {
  const { config, release } = inputs.render;
  if (!isFollowedByDefault(config, controlPlane)) return undefined;
  const { previous } = controlPlane;
  // The former extension has left no record of its objects.
  const hasRecord = previous === undefined || previous.source !== undefined || previous.kustomization !== undefined;
  const kinds = kindsOf(release);
  const isSame = async (shoot: KubeClient, object: KubeObject) => {
    const live = await shoot.find(resourceOf(object, kinds), object.metadata);
    // Absent: the user has removed what was recorded, or there was nothing.
    if (live === undefined) return !hasRecord;
    return isAsWritten(object.spec, live.spec, customResourceIn(release, config, object).spec);
  };
  const areSame = await tryInShoot(run, 'released objects not compared', async (shoot) => {
    for (const object of wanted) if (!(await isSame(shoot, object))) return false;
    return true;
  });
  if (areSame === true) return undefined;
  return {
    ...inputs,
    scope: { install: false, sync: false },
    render: { ...inputs.render, config: { ...config, syncMode: 'Once' } },
    problem: areSame === false ? DIFFERENT : undefined,
  };
}
