import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { documentsOf, fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import { originOf } from '../../../shared/config/origins.ts';
import { CONTINUE, FLUX_CONFIG, RECONCILE_AT } from '../../../shared/config/project-config.ts';
import { projectSecretOf } from '../../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../../shared/config/project-secrets.ts';
import type { Rollout } from '../../../shared/config/rollout.ts';
import { shootResourcesOf } from '../../../shared/config/shoot-resources.ts';
import { suspensionOf } from '../../../shared/config/suspension.ts';
import type { ConfigInputs, EffectiveConfig, ProjectSecret } from '../../../shared/config/types.ts';
import { ConfigError, RetryableError, unlessInvalid } from '../../../shared/errors.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import type { Given } from '../../../shared/gardener/landscape.ts';
import { isSelfHosted } from '../../../shared/gardener/shoot-changes.ts';
import { shootTraits } from '../../../shared/gardener/shoot-facts.ts';
import type { Applied, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ForbiddenError } from '../../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { GARDEN } from '../../../shared/runtime/key.ts';
import { reconcileAtOf } from '../deliver/requests.ts';
import { layersHash, renderHash, revisionOf } from '../plan/config-hash.ts';
import { writtenDeletionPolicy } from '../plan/deletion-policy.ts';
import { type Obstacle, obstacleOf, type Scope, updateScope, withKeptMode } from '../plan/scope.ts';
import { asRecorded } from '../plan/target-namespace.ts';
import { isWokenByApplying, type Run } from '../run.ts';
import type { ControlPlane } from './control-plane.ts';

/** The effective configuration, and what of it still reaches the shoot. */
export interface Configuration {
  type: 'configuration';
  config: EffectiveConfig;
  scope: Scope;
  layers: Layers;
}

/** The layers, and the contents of the project's Secrets, of which the configuration knows only that they exist. */
export interface Layers extends ConfigInputs {
  /** The Secrets of the project by name. */
  secretObjects: ReadonlyMap<string, KubeObject>;
  /** Identity of the requests of users that Flux in the shoot should reconcile now. */
  reconcileAt?: string | undefined;
  /** Who has suspended the project, and why. */
  suspension?: string | undefined;
  /** How an edit of `flux-config` reaches the Shoots; absent: all at once. */
  rollout?: ProjectRollout | undefined;
  /** What the operators have given, with a rollout of the landscape. */
  given?: Given | undefined;
}

/** The rollout of a project, and the revision that is rolled out. */
export interface ProjectRollout {
  settings: Rollout;
  revision: string;
  /** The annotation with which a member continues it. */
  continued: string | undefined;
  /** True: no Shoot takes its turn. */
  isSuspended: boolean;
}

/** Merges the layers of the configuration, and decides the scope. */
export async function readConfiguration(
  run: Run,
  controlPlane: ControlPlane,
  layers: Layers,
): Promise<Configuration | Obstacle> {
  const { previous, isBootstrapped } = controlPlane;
  const config = unlessInvalid(() => effectiveConfig(layers));
  // The sync mode of an invalid or deleted configuration is unknown; the recorded one counts then.
  const recordedScope = updateScope(previous?.syncMode ?? 'Reconcile', isBootstrapped, previous);
  if (isBootstrapped && previous?.fromFluxConfig === true && layers.fluxConfig === undefined) {
    const isSame = await asksForTheSame(run, config, previous);
    if (!isSame) return { type: 'keep', record: previous, scope: recordedScope, problem: CONFIG_MAP_DELETED };
  }
  const unedited = async () => isUnedited(run, controlPlane, layers);
  if (config instanceof ConfigError) return obstacleOf(config, previous, recordedScope, await unedited());
  const scope = updateScope(config.syncMode, isBootstrapped, previous);
  if (isBootstrapped && previous !== undefined && previous.namespace !== config.flux.namespace) {
    return obstacleOf(otherNamespace(config, previous), withKeptMode(previous, config.syncMode), scope, false);
  }
  return { type: 'configuration', config, scope, layers };
}

/**
 * Reads the layers. Only a 404 means that a layer is absent: every other failure throws.
 * @param given what the operators give the Shoot; undefined: what they give this process
 */
export async function readLayers(run: Run, given?: Given): Promise<Layers> {
  const { context, cluster, reporter } = run;
  const { shoot } = cluster.spec;
  const { namespace } = shoot.metadata;
  const garden = await context.kube(GARDEN);
  const find = (namespace: string) => garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  const configMap = namespace === undefined ? undefined : await asMember(find(namespace), shoot);
  const { defaults, policy, addons } = given?.documents ?? context.settings;
  const isThere = configMap !== undefined && configMap.metadata.deletionTimestamp === undefined;
  const layers: ConfigInputs = {
    landscape: { defaults, policy, addons },
    ...(isThere && { fluxConfig: fluxConfigMapOf(namespace ?? '', configMap) }),
    shoot: shootTraits(cluster),
    providerConfig: reporter.current().spec.providerConfig,
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
  const reconcileAt = reconcileAtOf([configMap, shoot].map((object) => object?.metadata.annotations?.[RECONCILE_AT]));
  if (namespace === undefined) return { ...layers, secretObjects: new Map(), reconcileAt, given };
  // Where only ManagedResources have woken the run, no other Secret than those that were there can be new.
  const { applied } = reporter.current().status?.state ?? {};
  const known = isWokenByApplying(run) ? applied?.projectSecrets : undefined;
  const secrets = await readProjectSecrets(garden, namespace, layers, known);
  // Its deletion resumes nothing: that is a decision of its own.
  const suspension = configMap === undefined ? applied?.suspension : suspensionOf(configMap.metadata.annotations);
  return { ...layers, ...secrets, reconcileAt, suspension, rollout: rolloutOf(layers, configMap), given };
}

/** Awaits what is read in the garden. @throws RetryableError where the project has given a self-hosted Shoot no rights */
function asMember<T>(answer: Promise<T>, shoot: Shoot): Promise<T> {
  return answer.catch((error) => {
    if (!(error instanceof ForbiddenError) || !isSelfHosted(shoot)) throw error;
    const { namespace, name } = shoot.metadata;
    const account = `ServiceAccount ${namespace}/extension-shoot--${name}--shoot-flux`;
    throw new RetryableError(
      `ConfigMap ${namespace}/${FLUX_CONFIG} cannot be read, because the Project has not given shoot-flux the right; add ${account} to its members, with the role extension:shoot-flux.`,
      { cause: error },
    );
  });
}

/** Returns the layers with other documents of the operators, without reading the project's part again. */
export async function layersWith(run: Run, layers: Layers, given: Given): Promise<Layers> {
  // Without flux-config, the defaults decide which Secrets are read.
  if (layers.fluxConfig === undefined) return readLayers(run, given);
  const { defaults, policy, addons } = given.documents;
  return { ...layers, landscape: { defaults, policy, addons }, given };
}

function rolloutOf({ fluxConfig }: ConfigInputs, configMap: KubeObject | undefined): ProjectRollout | undefined {
  const settings = fluxConfig && documentsOf(fluxConfig).rollout.value;
  if (fluxConfig === undefined || settings === undefined) return undefined;
  const { annotations } = configMap?.metadata ?? {};
  const isSuspended = suspensionOf(annotations) !== undefined;
  return { settings, revision: revisionOf(fluxConfig), continued: annotations?.[CONTINUE], isSuspended };
}

/** Adds the written deletion policy to the record: it counts also where the rest of the configuration is rejected. */
export function withWrittenPolicy(controlPlane: ControlPlane, layers: ConfigInputs): ControlPlane {
  const { previous } = controlPlane;
  const deletionPolicy = writtenDeletionPolicy(layers);
  if (previous === undefined || deletionPolicy === undefined) return controlPlane;
  return { ...controlPlane, previous: { ...previous, deletionPolicy } };
}

/** The deletion of the ConfigMap after the first success is reported and not followed. */
const CONFIG_MAP_DELETED =
  'ConfigMap flux-config was deleted after the first success; the last applied configuration is kept until the ConfigMap exists again.';

/** True when the providerConfig alone asks for what is applied, also for a policy that keeps Flux in the shoot. */
async function asksForTheSame(
  { context }: Run,
  config: EffectiveConfig | ConfigError,
  previous: Applied,
): Promise<boolean> {
  if (config instanceof ConfigError) return false;
  if (previous.deletionPolicy === 'Orphan' && config.deletionPolicy === undefined) return false;
  try {
    const release = await distributionAt(context.settings.fluxDistribution).release(previous.fluxVersion);
    return renderHash(asRecorded(config, previous), release) === previous.configHash;
  } catch (error) {
    // The distribution no longer has the recorded release.
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/**
 * True when the users of a running Shoot have written nothing new since it was accepted, so that a refusal comes from a
 * policy that has changed. A record without the hash is older than the defaults or policy of the landscape.
 */
export async function isUnedited(
  run: Run,
  { previous, isBootstrapped }: ControlPlane,
  layers: ConfigInputs,
): Promise<boolean> {
  if (previous === undefined || !isBootstrapped) return false;
  if (previous.layersHash !== undefined) return previous.layersHash === layersHash(layers);
  const config = unlessInvalid(() => effectiveConfig({ ...layers, landscape: undefined }));
  return asksForTheSame(run, config, previous);
}

function otherNamespace(config: EffectiveConfig, previous: Applied): ConfigError {
  const message =
    `cannot change after the first success; set it back to "${previous.namespace}", ` +
    'or remove the extension from the Shoot and add it again';
  return new ConfigError([{ ...originOf(config.origins, 'flux.namespace'), message }]);
}

/**
 * Reads the Secrets of the project that count for a Shoot. Only a 404 means that one is absent.
 * @param known the names of those that were there, where no other can be new
 */
export async function readProjectSecrets(
  garden: KubeClient,
  namespace: string,
  layers: ConfigInputs,
  known?: readonly string[],
): Promise<{ projectSecrets: ProjectSecret[]; secretObjects: ReadonlyMap<string, KubeObject> }> {
  const needed = neededProjectSecrets(layers).filter((name) => known?.includes(name) ?? true);
  const found = await Promise.all(
    needed.map(async (name) => {
      const secret = await garden.find(resources.secrets, { namespace, name });
      return secret === undefined ? [] : [{ name, secret }];
    }),
  );
  const there = found.flat();
  return {
    projectSecrets: there.map(({ name, secret }) => projectSecretOf(name, namespace, secret)),
    secretObjects: new Map(there.map(({ name, secret }) => [name, secret])),
  };
}
