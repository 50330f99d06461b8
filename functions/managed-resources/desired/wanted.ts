import type { ConfigInputs, EffectiveConfig } from '../../../shared/config/effective.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { originOf } from '../../../shared/config/origins.ts';
import { ConfigError } from '../../../shared/errors.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { objectGroups } from '../../../shared/flux/groups.ts';
import type { Distribution, Release } from '../../../shared/flux/release.ts';
import { applyState, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { askedOperation } from '../../../shared/gardener/operation.ts';
import { listedCopies, type ResourceReference } from '../../../shared/gardener/references.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { readConfigInputs } from '../read.ts';
import type { Run } from '../run.ts';
import { type Desired, desired, renderHash } from './desired.ts';
import { type Followed, followed, isBootstrapped, isUnfollowed } from './follow.ts';
import { readMaterial } from './material.ts';
import { survey } from './survey.ts';
import { syncSet } from './sync-set.ts';
import { chooseVersion } from './version.ts';

/** What should be, or why that cannot be said now. */
export type Wanted =
  | ({
      type: 'desired';
      release: Release;
      references: ResourceReference[];
      /** When tokens that are copied are renewed, in epoch ms. */
      renewals: number[];
    } & Desired)
  /** Something that the configuration names is not there yet. */
  | { type: 'missing'; sentence: string }
  /** The last applied stays, and why. */
  | { type: 'kept'; applied: Applied; problem: string };

/**
 * Reads the rest of what counts and computes what should be.
 * @throws ConfigError when the user has to mend something
 */
export async function wantedState(
  run: Run,
  previous: Applied | undefined,
  live: Map<string, ManagedResource>,
): Promise<Wanted> {
  const inputs = await readConfigInputs(await run.context.kube(GARDEN), run.extension, run.cluster);
  const bootstrapped = isBootstrapped(run.extension);
  const distribution = distributionAt(run.context.settings.fluxDistribution);
  if (bootstrapped && previous?.fromFluxConfig === true && inputs.fluxConfig === undefined) {
    if (!(await saysTheSame(inputs, previous, distribution))) return { type: 'kept', applied: previous, problem: LOST };
  }

  // Of a configuration that cannot be read the mode is not known: then the last one counts.
  let follow = followed(previous?.syncMode ?? 'Reconcile', bootstrapped, previous);
  try {
    const config = effectiveConfig(inputs);
    follow = followed(config.syncMode, bootstrapped, previous);
    return await fromConfig(run, config, follow, distribution, previous, live);
  } catch (error) {
    if (previous === undefined || !(error instanceof ConfigError) || !isUnfollowed(error.issues, follow)) throw error;
    return { type: 'kept', applied: previous, problem: error.message };
  }
}

async function fromConfig(
  run: Run,
  config: EffectiveConfig,
  follow: Followed,
  distribution: Distribution,
  previous: Applied | undefined,
  live: Map<string, ManagedResource>,
): Promise<Wanted> {
  const { context, seed, cluster, extension } = run;
  const { shoot } = cluster.spec;
  const garden = () => context.kube(GARDEN);
  const bootstrapped = isBootstrapped(extension);
  if (bootstrapped) refuseOtherNamespace(config, previous);
  const material = await readMaterial(config, shoot, run.namespace, seed, garden);
  if ('missing' in material) return { type: 'missing', sentence: material.missing };

  const isManaged =
    live.has(names.crds) || (previous?.delivery === 'Direct' && previous.managedResources[names.crds] !== undefined);
  const adopting = bootstrapped && follow.install && !isManaged;
  const { liveVersion, ownsNamespace } = await survey(
    seed,
    cluster,
    config.flux.namespace,
    previous,
    adopting,
    context,
  );
  const version = chooseVersion({
    config,
    follow,
    previous,
    liveVersion,
    refused: isRefused(previous, live.get(names.crds)),
    available: await distribution.versions(),
    kubernetesVersion: shoot.spec?.kubernetes?.version,
    asked: askedOperation(extension) !== undefined,
  });
  const release = await distribution.release(version);
  const groupsWith = (components: string[]) =>
    objectGroups({
      config: { ...config, flux: { ...config.flux, components } },
      release,
      shoot: shootFacts(cluster, context.settings),
      secrets: material.secrets,
      configMaps: material.configMaps,
      ownsNamespace,
      shootHealth: context.settings.shootHealth,
    });
  const wanted = follow.install ? config.flux.components : (previous?.components ?? config.flux.components);
  const groups = groupsWith(wanted);
  const sync = await syncSet(run, groups.sync, live.get(names.sync), follow.sync);
  const isLeaving = sync.leaving.length > 0 || (sync.objects.length === 0 && live.has(names.sync));
  const components = isLeaving ? withFormer(wanted, previous, release) : wanted;
  return {
    type: 'desired',
    release,
    references: referencesOf(config, cluster.spec.shoot.spec?.resources ?? []),
    renewals: material.renewals,
    ...desired({
      config,
      release,
      groups: components === wanted ? groups : groupsWith(components),
      components,
      sync,
      follow,
      ownsNamespace,
      previous,
    }),
  };
}

/** A ConfigMap that was deleted after the bootstrap is reported, not followed (design 6). */
const LOST =
  'ConfigMap flux-config was deleted after Flux had come up; the last applied configuration stays until it is there again.';

/** True when the providerConfig alone asks for what is applied: then nothing was lost with the ConfigMap. */
async function saysTheSame(inputs: ConfigInputs, previous: Applied, distribution: Distribution): Promise<boolean> {
  try {
    const release = await distribution.release(previous.fluxVersion);
    return renderHash(effectiveConfig(inputs), release) === previous.configHash;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** While a Kustomization leaves, the controllers stay that let go of its finalizer. */
function withFormer(components: string[], previous: Applied | undefined, release: Release): string[] {
  const former = previous?.components.filter((component) => release.files.has(component)) ?? [];
  return [...new Set([...components, ...former])];
}

/** The CRDs on record are not in the shoot, because it does not take them. */
function isRefused(previous: Applied | undefined, crds: ManagedResource | undefined): boolean {
  if (previous?.delivery === 'Direct')
    return previous.delivered?.[names.crds] !== previous.managedResources[names.crds];
  return crds !== undefined && applyState(crds).state === 'failing';
}

function refuseOtherNamespace(config: EffectiveConfig, previous: Applied | undefined): void {
  if (previous === undefined || previous.namespace === config.flux.namespace) return;
  const message =
    `the flux namespace cannot change after Flux has come up; set it back to "${previous.namespace}", ` +
    'or remove the extension from the Shoot and add it again.';
  throw new ConfigError([{ ...originOf(config.origins, 'flux.namespace'), message }]);
}

/** Seed-side names of the copies in use: they survive a control-plane migration only when listed (facts 2.2). */
function referencesOf(config: EffectiveConfig, entries: ResourceReference[]): ResourceReference[] {
  const used = [config.sourceSecret, ...config.additionalSecrets].flatMap((secret) =>
    secret?.origin.type === 'resource' ? [secret.origin.resourceName] : [],
  );
  return listedCopies(entries.filter(({ name }) => used.includes(name)));
}
