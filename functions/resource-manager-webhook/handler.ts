import { ADDON_RULE } from '../../shared/config/addons.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import type { ConfigInputs, EffectiveConfig } from '../../shared/config/types.ts';
import { ConfigError, type ConfigIssue, ShootFluxError, unlessInvalid } from '../../shared/errors.ts';
import { shootTraits } from '../../shared/gardener/shoot-facts.ts';
import { type Cluster, EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { DNS_LABEL, resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { WebhookContext, WebhookHandler } from '../../shared/runtime/webhook.ts';
import { addTargetNamespaces, leaveUnchanged, type TargetNamespaces } from './target-namespaces-flag.ts';

const NO_NAMESPACE = 'shoot-flux: request.namespace is not the name of a namespace; nothing was added';

/** Adds the namespaces of Flux to the arguments of a resource-manager that supports it. */
export const handler: WebhookHandler = async (request, context) => {
  const unchanged = leaveUnchanged(request);
  if (unchanged !== undefined) return unchanged;
  const namespace = request.namespace ?? '';
  // A request of an API server always has one; nothing else is asked for.
  if (!DNS_LABEL.test(namespace)) return { allowed: true, warnings: [NO_NAMESPACE] };
  const { layers, warnings } = await readLayers(namespace, context);
  // Where a policy refuses the configuration, the resource-manager still may write to its namespaces.
  const { defaults, addons } = context.settings;
  const landscape = { defaults, addons };
  return addTargetNamespaces(request, targetNamespacesOf({ ...layers, landscape }, warnings));
};

type Layers = Pick<ConfigInputs, 'landscape' | 'fluxConfig' | 'shoot' | 'providerConfig'>;

/**
 * Reads the layers of a Shoot's configuration; its Extension may not exist yet. An API server that does not answer leads
 * to a warning and not to an error, because gardenlet waits for this Deployment.
 */
async function readLayers(namespace: string, context: WebhookContext): Promise<{ layers: Layers; warnings: string[] }> {
  const notRead = (what: string) => [`${what} cannot be read, so target namespaces may be missing`];
  const cluster = await readCluster(namespace, context);
  if (cluster === undefined) return { layers: {}, warnings: notRead(`Cluster ${namespace}`) };
  const { shoot } = cluster.spec;
  const providerConfig = shoot.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig;
  const project = shoot.metadata.namespace;
  try {
    const fluxConfig = project === undefined ? undefined : await readFluxConfig(project, context);
    return { layers: { providerConfig, shoot: shootTraits(cluster), fluxConfig }, warnings: [] };
  } catch (error) {
    context.log.warn('flux-config not read', { error: describeError(error) });
    return { layers: { providerConfig }, warnings: notRead(`ConfigMap ${project}/${FLUX_CONFIG} of the garden`) };
  }
}

/** Reads the Cluster from every seed, because the request does not say from which seed it comes. */
async function readCluster(name: string, { kube, settings, log }: WebhookContext): Promise<Cluster | undefined> {
  const readFrom = async (seed: string): Promise<Cluster> => {
    const cluster = await (await kube(seed)).find<Cluster>(resources.clusters, { name });
    if (cluster === undefined) throw new ShootFluxError(`${seed} has no such Cluster`);
    return cluster;
  };
  return Promise.any(settings.seeds.map(readFrom)).catch(({ errors }: AggregateError) => {
    log.warn('cluster not read', { errors: errors.map(describeError).join('; ') });
    return undefined;
  });
}

/** Reads the ConfigMap. Only a 404 means that there is none. */
async function readFluxConfig(namespace: string, { kube }: WebhookContext): Promise<ConfigInputs['fluxConfig']> {
  const configMap = await (await kube(GARDEN)).find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  const isThere = configMap !== undefined && configMap.metadata.deletionTimestamp === undefined;
  return isThere ? fluxConfigMapOf(namespace, configMap) : undefined;
}

/** The layers that may have errors, highest first -> their names in warnings. */
const names = {
  providerConfig: 'providerConfig',
  fluxConfig: 'ConfigMap flux-config',
  landscape: "landscape's configuration",
};

/**
 * Returns the namespaces of everything that the shoot gets. A layer with errors is ignored: its errors are reported
 * elsewhere, and once it is fixed the resource-manager should already know the other namespaces.
 */
export function targetNamespacesOf(layers: Layers, warnings: string[]): TargetNamespaces {
  const config = unlessInvalid(() => effectiveConfig(layers));
  if (!(config instanceof ConfigError)) return { namespaces: namespacesOf(config), warnings };
  // The shoot keeps the rest of what it has.
  if (config.issues.some(({ rule }) => rule === ADDON_RULE)) {
    const refused =
      'an addon is refused, and all are ignored when computing target namespaces; remove it from the list';
    return targetNamespacesOf({ ...layers, landscape: { ...layers.landscape, addons: null } }, [...warnings, refused]);
  }
  const wrong = wrongLayers(layers, config.issues);
  const [first] = wrong;
  if (first === undefined) throw config;
  return targetNamespacesOf({ ...layers, ...Object.fromEntries(wrong.map((layer) => [layer, undefined])) }, [
    ...warnings,
    `the ${names[first]} has errors and is ignored when computing target namespaces; fix it`,
  ]);
}

/** Returns layers that exist, so that each attempt has fewer. A higher layer may lead to an error that names a lower one. */
function wrongLayers(layers: Layers, issues: readonly ConfigIssue[]): (keyof typeof names)[] {
  const present = (['providerConfig', 'fluxConfig', 'landscape'] as const).filter(
    (layer) => layers[layer] !== undefined,
  );
  const isNamed = (layer: keyof typeof names) =>
    layer !== 'landscape' && issues.some(({ object }) => (object === PROVIDER_CONFIG) === (layer === 'providerConfig'));
  const named = present.filter(isNamed);
  return named.length > 0 ? named : present.slice(0, 1);
}

/** Copied Secrets need no namespace of their own: they live where Flux, the source or the Kustomization does. */
function namespacesOf({ flux, source, kustomization, objects }: EffectiveConfig): string[] {
  const users = [source, kustomization, ...objects];
  const namespaces = [flux.namespace, ...users.map((user) => user?.metadata.namespace)];
  return [...new Set(namespaces.filter((namespace) => namespace !== undefined))];
}
