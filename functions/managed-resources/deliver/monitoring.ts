import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { contentSecretName, isCurrent, MONITORING } from '../../../shared/gardener/managed-resource.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { monitoringObjects } from '../plan/monitoring.ts';
import { type ControlPlane, deleteManagedResource } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { writeContent, writeManagedResource } from './deliver.ts';

/** Gardener's secrets manager keeps the certificates of the shoot's API server under a name that changes when they do. */
const CLUSTER_CA = 'managed-by=secrets-manager,bundle-for=ca';

/**
 * Brings Flux's metrics into the Prometheus of the Shoot, or takes them out of it. After everything else: nothing
 * depends on it, and what it has written is not in the list by which a delivery cleans up.
 */
export async function deliverMonitoring(run: Run, { live }: ControlPlane, config: EffectiveConfig): Promise<void> {
  const { seed, namespace, context } = run;
  const resource = live.get(MONITORING);
  if (config.monitoring !== true) {
    if (resource !== undefined) await deleteManagedResource(seed, resource, 'the configuration asks for no monitoring');
    return;
  }
  const options = { namespace, labelSelector: CLUSTER_CA, metadataOnly: true };
  const { items } = await seed.list(resources.secrets, options);
  const ageOf = ({ metadata }: (typeof items)[number]) => metadata.creationTimestamp ?? '';
  const [newest] = items.toSorted((one, other) => (ageOf(one) < ageOf(other) ? 1 : -1));
  if (newest === undefined) {
    const error = `namespace ${namespace} has no Secret with the labels ${CLUSTER_CA}; the next resync looks again.`;
    return context.log.warn('monitoring not delivered', { error });
  }
  const objects = monitoringObjects(namespace, config.flux.namespace, newest.metadata.name);
  const secretName = contentSecretName(MONITORING, objects);
  // One that is being deleted is written by the run that its end wakes.
  if (isCurrent(resource, secretName) || resource?.metadata.deletionTimestamp !== undefined) return;
  await writeContent(seed, namespace, MONITORING, objects);
  await writeManagedResource(seed, namespace, MONITORING, secretName, resource);
}
