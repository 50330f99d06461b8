import { ConfigError } from '../../../shared/errors.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import type { Release } from '../../../shared/flux/release.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Obstacle, obstacleOf } from '../plan/obstacle.ts';
import { type PlanInputs, type RenderedObjects, renderObjects } from '../plan/plan.ts';
import { resourceWithFormerContent } from '../plan/sync-objects.ts';
import { areCrdsRejected, chooseVersion } from '../plan/version.ts';
import type { Run } from '../run.ts';
import type { Configuration } from './configuration.ts';
import { type ControlPlane, readContent } from './control-plane.ts';
import { type CopiedContents, readCopiedContents } from './copied-contents.ts';
import { detectExistingFlux, type ExistingFlux } from './existing-flux.ts';

/** Everything that a plan is made of. */
export interface PlanParts {
  type: 'plan parts';
  inputs: PlanInputs;
  rendered: RenderedObjects;
  /** The content that the ManagedResource for sync objects holds now; undefined: it is the rendered one. */
  former: KubeObject[] | undefined;
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
  const { config, scope } = configuration;
  const copies = await readCopiedContents(run, config);
  if ('missing' in copies) return { type: 'wait', sentence: copies.missing };
  const existing = await detectExistingFlux(run, controlPlane, scope, config.flux.namespace);
  try {
    const release = await readRelease(run, controlPlane, configuration, existing);
    const inputs = planInputs(run, controlPlane, configuration, copies, existing, release);
    const rendered = renderObjects(inputs);
    const changing = resourceWithFormerContent(rendered.sync);
    if (changing === undefined) return { type: 'plan parts', inputs, rendered, former: undefined };
    const former = await readContent(run, changing);
    if (former === undefined) return { type: 'recreate', resource: changing };
    return { type: 'plan parts', inputs, rendered, former };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { previous } = controlPlane;
    return obstacleOf(error, previous && { ...previous, syncMode: config.syncMode }, scope);
  }
}

/** Reads the Flux release to install, or, out of scope, the installed one for its CRDs. */
async function readRelease(
  { context, cluster, isAsked }: Run,
  { previous, live }: ControlPlane,
  { config, scope }: Configuration,
  { liveVersion }: ExistingFlux,
): Promise<Release> {
  const distribution = distributionAt(context.settings.fluxDistribution);
  const version = chooseVersion({
    config,
    scope,
    previous,
    liveVersion,
    areCrdsRejected: areCrdsRejected(previous, live.get(names.crds)),
    available: await distribution.versions(),
    kubernetesVersion: cluster.spec.shoot.spec?.kubernetes?.version,
    isAsked,
  });
  return distribution.release(version);
}

function planInputs(
  { context: { settings }, cluster }: Run,
  { previous, live }: ControlPlane,
  { config, scope }: Configuration,
  { secrets, configMaps, renewals }: CopiedContents,
  { ownsNamespace }: ExistingFlux,
  release: Release,
): PlanInputs {
  const { shootHealth } = settings;
  const shoot = shootFacts(cluster, settings);
  const shootResources = cluster.spec.shoot.spec?.resources ?? [];
  const render = { config, release, shoot, secrets, configMaps, ownsNamespace, shootHealth };
  return { scope, previous, live, render, shootResources, renewals };
}
