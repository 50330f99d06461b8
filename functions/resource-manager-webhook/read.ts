import { withDocuments } from '../../shared/config/documents.ts';
import { fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { FLUX_CONFIG } from '../../shared/gardener/project-config.ts';
import { shootTraits } from '../../shared/gardener/shoot-traits.ts';
import { type Cluster, EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { WebhookContext } from '../../shared/runtime/webhook.ts';

/** The layers that could be read. */
interface ReadLayers {
  layers: Pick<ConfigInputs, 'fluxConfig' | 'providerConfig' | 'shoot'>;
  /** Why the rest could not be read. */
  warnings: string[];
}

/**
 * Reads the layers of a Shoot's configuration; its Extension may not exist yet. An API server that does not answer leads
 * to a warning and not to an error, because gardenlet waits for this Deployment.
 */
export async function readLayers(namespace: string, context: WebhookContext): Promise<ReadLayers> {
  const cluster = await readCluster(namespace, context);
  if (cluster === undefined)
    return { layers: {}, warnings: [`Cluster ${namespace} cannot be read, so target namespaces may be missing`] };
  const { shoot } = cluster.spec;
  const providerConfig = shoot.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig;
  try {
    const fluxConfig = await readFluxConfig(shoot.metadata.namespace, context);
    return { layers: { providerConfig, shoot: shootTraits(cluster), ...fluxConfig }, warnings: [] };
  } catch (error) {
    context.log.warn('flux-config not read', { error: describeError(error) });
    const name = `${shoot.metadata.namespace}/${FLUX_CONFIG}`;
    return {
      layers: { providerConfig },
      warnings: [`ConfigMap ${name} of the garden cannot be read, so target namespaces may be missing`],
    };
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
async function readFluxConfig(
  namespace: string | undefined,
  { kube }: WebhookContext,
): Promise<Pick<ConfigInputs, 'fluxConfig'>> {
  if (namespace === undefined) return {};
  const configMap = await (await kube(GARDEN)).find(resources.configMaps, { namespace, name: FLUX_CONFIG });
  if (configMap === undefined || configMap.metadata.deletionTimestamp !== undefined) return {};
  return { fluxConfig: await withDocuments(fluxConfigMapOf(namespace, configMap)) };
}
