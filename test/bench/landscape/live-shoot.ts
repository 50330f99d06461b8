import { setTimeout as sleep } from 'node:timers/promises';
import { createKubeClient } from '@shoot-flux/landscape/client';
import { startInformer } from '@shoot-flux/landscape/controllers';
import { startResourceManager } from '@shoot-flux/landscape/resource-manager';
import { startProduct } from '../../../infra/process/product.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import { type Resource, resources } from '../../../shared/kube/resource.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import { secretWith } from '../../shoot-secrets.ts';
import type { BenchCluster, BenchClusters } from './clusters.ts';
import { namespace } from './objects.ts';
import { settings } from './run-function.ts';

const write = { fieldManager: 'bench' };
const GIVE_UP_MS = 120_000;

/**
 * Starts the product in this process, for a Shoot without an Extension, beside the landscape's resource-manager and a simulated Flux, which is Ready so many seconds after
 * it is applied.
 */
export async function startLiveShoot({ seed, shoot }: BenchClusters, name: string, fluxSeconds: number) {
  if (shoot === undefined) throw new Error('There is no shoot.');
  const access = await createControlPlane({ seed, shoot }, name);
  const manager = await startResourceManager({
    source: seed.connection,
    target: shoot.connection,
    namespace: name,
    targetNamespaces: ['kube-system', 'flux-system'],
  });
  const credentials = () => async () => seed.connection;
  const product = await startProduct({ credentials, settings, log: createLog('error') });
  const flux = playFlux(shoot, fluxSeconds);
  return {
    product,
    /** The Secret with which the product reaches the shoot. */
    access,
    async [Symbol.asyncDispose]() {
      await flux.stop();
      await product.stop();
      await manager.stop();
    },
  };
}

/** Creates the namespace of a control plane, and the Secret with the kubeconfig of its shoot. */
export async function createControlPlane({ seed, shoot }: Pick<BenchClusters, 'seed' | 'shoot'>, name: string) {
  await seed.client.create(resources.namespaces, namespace(name), write);
  const access = secretWith(name, 'gardener', { kubeconfig: shoot?.kubeconfig ?? '' });
  await seed.client.create(resources.secrets, access, write);
  return access;
}

/** Resolves when the first success of a Shoot is recorded. */
export async function untilBootstrapped({ client }: BenchCluster, name: string): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const found = await client.find<Extension>(resources.extensions, { namespace: name, name: 'shoot-flux' });
    if (found?.status?.state?.bootstrapped !== undefined) return;
    if (performance.now() > deadline) {
      const { lastError, providerStatus } = found?.status ?? {};
      const why = lastError?.description ?? providerStatus?.flux?.notReady?.join(' ') ?? 'no reason is reported';
      throw new Error(`The Shoot was not Ready after ${GIVE_UP_MS / 1000} s: ${why}`);
    }
    await sleep(100);
  }
}

const flux = (group: string, plural: string, kind: string): Resource => ({
  ...{ group: `${group}.toolkit.fluxcd.io`, version: 'v1', plural, kind, namespaced: true },
});
const synced = [
  flux('source', 'gitrepositories', 'GitRepository'),
  flux('kustomize', 'kustomizations', 'Kustomization'),
];
const REVISION = 'main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c';

/**
 * Plays Flux in a shoot: so many seconds after its first Deployment is there (images have to be pulled), Deployments are
 * available, and source and Kustomization are Ready. They remain so when they are edited.
 */
function playFlux(shoot: BenchCluster, seconds: number) {
  const stopping = new AbortController();
  const client = createKubeClient(shoot.connection, { userAgent: 'bench' });
  let pulled: Promise<void> | undefined;
  const follow = (resource: Resource, statusOf: (generation: number | undefined) => object) =>
    startInformer(
      client,
      resource,
      { namespace: 'flux-system', signal: stopping.signal },
      {
        async onChange({ metadata, status }) {
          const { generation } = metadata;
          if ((status as { observedGeneration?: number } | undefined)?.observedGeneration === generation) return;
          pulled ??= sleep(seconds * 1000, undefined, { ref: false });
          await pulled;
          const patch = { status: { observedGeneration: generation, ...statusOf(generation) } };
          await client.mergePatch(resource, metadata, patch, { ...write, subresource: 'status' }).catch(() => {});
        },
      },
    );
  const informers = [
    follow(resources.deployments, () => ({ replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 })),
    ...synced.map((resource) => follow(resource, ready)),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(informers.map(({ stopped }) => stopped));
      client.close();
    },
  };
}

function ready(observedGeneration: number | undefined) {
  const condition = { type: 'Ready', status: 'True', reason: 'Succeeded', message: `Applied revision: ${REVISION}` };
  const conditions = [{ ...condition, observedGeneration, lastTransitionTime: new Date().toISOString() }];
  return { conditions, lastAppliedRevision: REVISION };
}
