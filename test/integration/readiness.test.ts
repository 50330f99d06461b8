import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { seedCrds } from '@shoot-flux/landscape/crds';
import {
  NAMESPACE as FLUX,
  fluxCrds,
  gitRepositories,
  gitRepositoryFactory,
  kustomizationFactory,
  kustomizations,
} from '@shoot-flux/landscape/flux/objects';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { handler } from '../../functions/readiness/handler.ts';
import { APPLYING_CHECK_SECONDS, READY_CHECK_SECONDS } from '../../functions/readiness/next-check.ts';
import { managedResourceManifest } from '../../shared/gardener/managed-resource.ts';
import {
  appliedFactory,
  NAMESPACE as CONTROL_PLANE,
  clusterFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
} from '../../shared/gardener/testing.ts';
import type { Applied, Condition, Extension, Cluster as GardenerCluster } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { patientClient } from '../patient-client.ts';
import { contextOf, settingsOf } from '../scenarios/context.ts';
import { tokenOf, usersOf } from '../scenarios/identities.ts';
import { secretWith } from '../shoot-secrets.ts';

/** Runs of `readiness` over TLS and with only the shipped rights, while a source fails and is corrected. */

const extensionName = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
const fieldManager = 'test';
const shipped = { 'shoot-flux-controllers': 'c', 'shoot-flux-sync': 's' };
const applied = appliedFactory({
  managedResources: shipped,
  components: ['source-controller'],
  source: { ...apiOf(gitRepositories), namespace: FLUX, name: 'main-gitrepo' },
  kustomization: { ...apiOf(kustomizations), namespace: FLUX, name: 'main-ks' },
});
const url = 'ssh://git@git.example.com/org/fleet';
const mismatch = `failed to checkout and determine revision: unable to clone '${url}': ssh: handshake failed: knownhosts: key mismatch`;

let seed: Cluster;
let shoot: Cluster;
let restoreCheckpoints: (() => void)[];
let clock: number;

beforeAll(async () => {
  const { tokens, rbac } = await usersOf('seed');
  [seed, shoot] = await Promise.all([
    startCluster([...seedCrds(), ...rbac], { tokens, authorization: 'RBAC' }),
    startCluster(fluxCrds()),
  ]);
  seed.api.objects.ensureNamespace(CONTROL_PLANE);
  shoot.api.objects.ensureNamespace(FLUX);
  seed.api.objects.create(secretWith(CONTROL_PLANE, 'gardener', { kubeconfig: shoot.kubeconfig }));
  const { spec, ...cluster } = clusterFactory();
  seed.api.objects.create({ ...cluster, spec: { ...spec, seed: {}, cloudProfile: {} } } as unknown as KubeObject);
  for (const [name, secretName] of Object.entries(shipped)) {
    const live = seed.api.objects.create(managedResourceManifest(CONTROL_PLANE, name, secretName));
    // As if the resource-manager had applied it.
    seed.api.objects.patchStatus(live, { observedGeneration: 1, conditions: [conditionFactory()] });
  }
  seed.api.objects.create({ ...extensionFactory(), metadata: extensionName } as unknown as KubeObject);
  shoot.api.objects.create(deployment);
  const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  shoot.api.objects.patchStatus(deployment, status);
  shoot.api.objects.create(gitRepositoryFactory('main-gitrepo', url, { secretRef: { name: 'flux-source' } }));
  shoot.api.objects.create(kustomizationFactory('main-ks'));
  await setReady(kustomizations, 'main-ks');
  restoreCheckpoints = [seed.api.checkpoint(), shoot.api.checkpoint()];
});
beforeEach(async () => {
  for (const { api } of [seed, shoot]) api.faults.clear();
  for (const restore of restoreCheckpoints) restore();
  clock = Date.parse('2026-03-04T05:00:00Z');
  await record(applied);
});
afterAll(() => Promise.all([seed.stop(), shoot.stop()]));

function apiOf({ group, version, kind }: Resource) {
  return { apiVersion: `${group}/${version}`, kind };
}

const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: FLUX, name: 'source-controller', labels: { 'app.kubernetes.io/part-of': 'flux' } },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'manager', image: 'a' }] } },
  },
};

const setStatus = ({ client }: Cluster, resource: Resource, name: KubeObject['metadata'], status: object) =>
  client.mergePatch(resource, name, { status }, { fieldManager, subresource: 'status' });
const record = (recorded: Applied) =>
  setStatus(seed, resources.extensions, extensionName, {
    lastOperation: lastOperationFactory(),
    state: { applied: recorded },
  });

/** Sets Ready of a Flux object to True, or to False with a message. */
async function setReady(resource: Resource, name: string, message?: string): Promise<void> {
  const object = { namespace: FLUX, name };
  const live = await shoot.client.find(resource, object);
  const [status, reason] = message === undefined ? ['True', 'Succeeded'] : ['False', 'GitOperationFailed'];
  const ready = { type: 'Ready', status, reason, message: message ?? 'stored', observedGeneration: 1 };
  await setStatus(shoot, resource, object, {
    observedGeneration: live?.metadata.generation,
    lastAppliedRevision: 'main@sha1:abc',
    conditions: [{ ...ready, lastTransitionTime: '2026-01-02T03:04:05Z' }],
  });
}

async function run(settings: Partial<Settings> = {}, secondsLater = 10) {
  clock += secondsLater * 1000;
  const client = patientClient({ ...seed.connection, token: tokenOf('readiness') });
  try {
    const context = contextOf({
      kube: async () => client,
      settings: settingsOf({ fluxDistribution: '', ...settings }),
      causes: [{ type: 'redrive', nonce: 'test' }],
      now: () => new Date(clock),
      log: createLog('error'),
    });
    return await handler({ cluster: 'local', ...extensionName }, context);
  } finally {
    client.close();
  }
}

async function extension(): Promise<Extension> {
  const live = await seed.client.find<Extension>(resources.extensions, extensionName);
  if (live === undefined) throw new Error('the Extension is gone');
  return live;
}
const condition = async (type: string): Promise<Condition | undefined> =>
  (await extension()).status?.conditions?.find((one) => one.type === type);
const health = () => condition('SystemComponentsHealthy');
const change = (spec: Partial<GardenerCluster['spec']['shoot']>) =>
  seed.client.mergePatch(resources.clusters, { name: CONTROL_PLANE }, { spec: { shoot: spec } }, { fieldManager });

const withShootHealth = { shootHealth: true };

describe('conditions', () => {
  it('name the remedy for a failing source, and are True once it is corrected', async () => {
    await setReady(gitRepositories, 'main-gitrepo', mismatch);
    expect(await run()).toEqual({ type: 'requeue', afterSeconds: 60 });
    const { status } = await extension();
    const sentence =
      "GitRepository flux-system/main-gitrepo: the host key of the SSH server git.example.com does not match known_hosts; if the server's key was changed on purpose, put the lines that ssh-keyscan git.example.com prints into knownHosts in ConfigMap flux-config.";
    expect(await condition('SourceReady')).toMatchObject({
      ...{ status: 'False', reason: 'HostKeyMismatch', codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'] },
      message: `${sentence} Flux says: ${mismatch} (config c0ffee)`,
    });
    expect(status?.providerStatus?.flux).toEqual({
      ...{ configHash: 'c0ffee', ready: false, appliedRevision: 'main@sha1:abc' },
      notReady: [`${sentence} Flux says: ${mismatch}`],
    });
    expect(await health()).toBeUndefined();

    await setReady(gitRepositories, 'main-gitrepo');
    expect(await run()).toEqual({ type: 'requeue', afterSeconds: READY_CHECK_SECONDS });
    const corrected = await condition('SourceReady');
    expect(corrected).toMatchObject({ status: 'True', reason: 'Ready', lastTransitionTime: '2026-03-04T05:00:20Z' });
    expect(corrected).not.toHaveProperty('codes');
    expect((await extension()).status?.providerStatus?.flux).toEqual({
      ...{ configHash: 'c0ffee', ready: true, appliedRevision: 'main@sha1:abc' },
    });
  });

  it('are Unknown, not False, while the shoot does not respond, and are checked again within a minute', async () => {
    await setReady(gitRepositories, 'main-gitrepo');
    await run(withShootHealth);
    shoot.api.faults.add({ action: 'status', status: 503, match: {}, times: 50 });
    expect(await run(withShootHealth)).toEqual({ type: 'requeue', afterSeconds: 60 });
    for (const type of ['FluxReady', 'SourceReady', 'KustomizationReady']) {
      expect(await condition(type)).toMatchObject({
        ...{ status: 'Unknown', reason: 'ShootNotReachable' },
        message: expect.stringMatching(/^The shoot cannot be reached: GET .*503.* \(config c0ffee\)$/),
      });
    }
    expect(await health()).toMatchObject({ status: 'Progressing' });
    await run(withShootHealth, 300);
    expect(await health()).toMatchObject({ status: 'Unknown', reason: 'ConditionCheckError' });
    shoot.api.faults.clear();
    expect(await run(withShootHealth)).toEqual({ type: 'requeue', afterSeconds: READY_CHECK_SECONDS });
    expect(await health()).toMatchObject({ status: 'True' });
  });

  it('do not change while the seed does not respond', async () => {
    await setReady(gitRepositories, 'main-gitrepo');
    await run();
    const { status } = await extension();
    seed.api.faults.add({ action: 'status', status: 503, match: { path: /secrets\/gardener/ }, times: 5 });
    await expect(run()).rejects.toThrow('503');
    seed.api.faults.clear();
    expect((await extension()).status).toEqual(status);
  });

  it('wait until new content is applied, and are checked again', async () => {
    await record({ ...applied, managedResources: { ...shipped, 'shoot-flux-sync': 'other' } });
    expect(await run()).toEqual({ type: 'requeue', afterSeconds: APPLYING_CHECK_SECONDS });
    expect((await extension()).status?.conditions).toBeUndefined();
  });
});

describe('the health of the Shoot', () => {
  it('fails only when a failure persists, recovers with hibernation, and disappears when the operator disables it', async () => {
    await setReady(gitRepositories, 'main-gitrepo', mismatch);
    await run();
    expect(await health()).toBeUndefined();
    await run(withShootHealth);
    expect(await health()).toMatchObject({ status: 'Progressing', reason: 'HealthCheckProgressing' });
    await run(withShootHealth, 300);
    expect(await health()).toMatchObject({
      ...{ status: 'False', reason: 'HealthCheckUnsuccessful', codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'] },
      message: expect.stringMatching(/^GitRepository flux-system\/main-gitrepo: .*knownHosts in ConfigMap flux-config/),
    });
    await change({ spec: { hibernation: { enabled: true } } });
    expect(await run(withShootHealth)).toEqual({ type: 'done' });
    expect(await health()).toMatchObject({ status: 'True', message: 'The Shoot is hibernated.' });
    expect(await condition('SourceReady')).toMatchObject({ status: 'False' });
    // The Shoot wakes up: only the Cluster shows when it is awake.
    await change({ spec: { hibernation: { enabled: false } }, status: { hibernated: true } });
    expect(await run(withShootHealth)).toEqual({ type: 'requeue', afterSeconds: 20 });
    await run();
    expect(await health()).toBeUndefined();
  });

  it('disappears when the operator disables it, also while objects are being applied', async () => {
    await setReady(gitRepositories, 'main-gitrepo', mismatch);
    await run(withShootHealth);
    await record({ ...applied, managedResources: { ...shipped, 'shoot-flux-sync': 'other' } });
    await run(withShootHealth, 900);
    expect(await health()).toMatchObject({ status: 'Progressing' });
    await run();
    expect(await health()).toBeUndefined();
  });

  it('does not change while the Shoot is being deleted', async () => {
    await change({ metadata: { name: 'bar', deletionTimestamp: '2026-03-04T05:00:00Z' } });
    await setReady(gitRepositories, 'main-gitrepo', mismatch);
    expect(await run(withShootHealth)).toEqual({ type: 'done' });
    expect((await extension()).status?.conditions).toBeUndefined();
  });
});
