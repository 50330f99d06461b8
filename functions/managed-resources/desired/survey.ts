import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied, Cluster } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../../../shared/kube/system-namespaces.ts';
import type { Context } from '../../../shared/runtime/context.ts';

/** What was in the shoot before us. */
export interface Survey {
  /** Version of the Flux that is installed; absent: none, or it cannot be told. */
  liveVersion?: string | undefined;
  /** False: the flux namespace existed before us and is never in a ManagedResource. */
  ownsNamespace: boolean;
}

/**
 * Asks the shoot where Flux may have been before us: a Shoot that is being created has none, and an answer that is on
 * record is not asked for again. Without a kubeconfig Secret in the control plane the shoot counts as empty.
 */
export async function survey(
  seed: KubeClient,
  cluster: Cluster,
  fluxNamespace: string,
  previous: Applied | undefined,
  /** True: Flux was let go and is to be managed again. */
  adopting: boolean,
  context: Context,
): Promise<Survey> {
  const owns = !SYSTEM_NAMESPACES.includes(fluxNamespace);
  const recorded = previous !== undefined && previous.namespace === fluxNamespace;
  const creating = cluster.spec.shoot.status?.lastOperation?.type === 'Create';
  if (!adopting && (recorded || creating)) return { ownsNamespace: recorded ? previous.ownsNamespace : owns };
  const run = { seed, namespace: cluster.metadata.name, context };
  const found = await withShoot(run, (shoot) =>
    ask(shoot, fluxNamespace, recorded ? previous.ownsNamespace : undefined, owns),
  );
  return found ?? { ownsNamespace: recorded ? previous.ownsNamespace : owns };
}

async function ask(
  shoot: KubeClient,
  fluxNamespace: string,
  recorded: boolean | undefined,
  owns: boolean,
): Promise<Survey> {
  const crd = await shoot.find(
    resources.customResourceDefinitions,
    { name: 'gitrepositories.source.toolkit.fluxcd.io' },
    { metadataOnly: true },
  );
  const liveVersion = crd?.metadata.labels?.['app.kubernetes.io/version'];
  if (recorded !== undefined) return { liveVersion, ownsNamespace: recorded };
  const namespace = owns
    ? await shoot.find(resources.namespaces, { name: fluxNamespace }, { metadataOnly: true })
    : undefined;
  // One that goes is none: what comes after it is ours, as after an extension that has just been removed.
  const isThere = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
  return { liveVersion, ownsNamespace: owns && !isThere };
}
