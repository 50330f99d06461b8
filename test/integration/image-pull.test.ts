import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRelease } from '../../infra/cli/distribution-make.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { fieldsAt, textAt } from '../../shared/shapes.ts';
import { eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';
import { startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

/** Two releases of the test data, where they are present. */
async function realReleases(): Promise<string | undefined> {
  const releases = testData('flux');
  if (releases === undefined) return undefined;
  const dir = mkdtempSync(join(tmpdir(), 'image-pull-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const quiet = { out: () => {}, err: () => {}, stdin: async () => '', environment: {} };
  for (const version of ['v2.7.5', 'v2.9.4']) await makeRelease({ dir, from: join(releases, version), version }, quiet);
  return dir;
}

const real = await realReleases();
const upgrades: { from: string; to: string; distribution: string; stopped: string[] }[] = [
  {
    ...{ from: FORMER_RELEASE, to: standInDistribution.version, distribution: await twoReleases() },
    // The stand-in has no disk, for which the real one stops its former Pod first.
    stopped: [],
  },
  ...(real === undefined ? [] : [{ from: 'v2.7.5', to: 'v2.9.4', distribution: real, stopped: ['source-controller'] }]),
];
if (real === undefined) it.skip(testDataMissing);
const fieldManager = 'shoot';
const namespace = 'flux-system';
const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const components = ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'];
const config = {
  syncMode: 'Reconcile',
  registry: 'registry.example.com/fluxcd',
  imagePullSecret: 'mirror',
};

const patterned = (text: string) => text.replaceAll(/[().]/g, '\\$&');

describe.each(upgrades)(
  'an upgrade from $from to images of $to that cannot be pulled',
  ({ from, to, distribution, stopped }) => {
    let stage: Stage;

    beforeEach(async () => {
      stage = await startStage(await startEmbeddedApis(), distribution);
      await stage.startProduct();
      await follow({ ...config, fluxVersion: from });
      for (const name of components) await setPods(name, 'run');
      await untilCondition(({ status }) => status === 'True');
    });

    afterEach(() => stage[Symbol.asyncDispose]());

    async function follow(data: Record<string, string>): Promise<void> {
      await stage.setFluxConfig(data);
      await stage.reconcileShoot();
      const version = data.fluxVersion ?? '';
      await stage.until(version, ({ state }) => state?.applied?.fluxVersion === version);
      await stage.untilReady();
    }

    /**
     * What the Deployment controller and a kubelet write: all Pods run, or the new ones wait for an image. The strategy of
     * the installed Deployment decides whether the former Pod stays until then.
     */
    async function setPods(name: string, state: 'run' | { reason: string; message: string }): Promise<void> {
      const live = await stage.shoot.find(resources.deployments, { namespace, name });
      const template = fieldsAt(live?.spec, 'template');
      const areRunning = state === 'run';
      const staysUp = textAt(live?.spec, 'strategy', 'type') !== 'Recreate';
      const lastUpdateTime = '2026-01-02T03:04:05Z';
      const progressing = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', lastUpdateTime };
      const status = {
        observedGeneration: live?.metadata.generation,
        replicas: areRunning || !staysUp ? 1 : 2,
        updatedReplicas: 1,
        availableReplicas: areRunning || staysUp ? 1 : 0,
        conditions: [{ ...progressing, lastTransitionTime: lastUpdateTime, message: '' }],
      };
      const deployment = { namespace, name };
      await stage.shoot.mergePatch(
        resources.deployments,
        deployment,
        { status },
        { fieldManager, subresource: 'status' },
      );
      const pod = { namespace, name: `${name}-new` };
      await stage.shoot.delete(pods, pod);
      if (areRunning) return;
      const metadata = { ...pod, labels: fieldsAt(template, 'metadata', 'labels') };
      const manifest = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template?.spec } as KubeObject;
      await stage.shoot.create(pods, manifest, { fieldManager });
      const [container] = (manifest.spec as { containers: { name: string; image: string }[] }).containers;
      const waiting = { name: container?.name, image: container?.image, imageID: '', ready: false, restartCount: 0 };
      const waitingStatus = { containerStatuses: [{ ...waiting, state: { waiting: state } }] };
      await stage.shoot.mergePatch(pods, pod, { status: waitingStatus }, { fieldManager, subresource: 'status' });
    }

    const fluxReady = async () =>
      (await stage.extension()).status?.conditions?.find(({ type }) => type === 'FluxReady') ?? {
        ...{ status: '', reason: '', message: '', codes: [] },
      };
    const untilCondition = (isWanted: (condition: Awaited<ReturnType<typeof fluxReady>>) => boolean) =>
      eventually('the condition', fluxReady, isWanted);

    it('says on the Extension and in flux-status what is wrong and where to correct it, and what still runs', async () => {
      await follow({ ...config, fluxVersion: to });
      const back = { reason: 'ImagePullBackOff', message: 'Back-off pulling image: 401 Unauthorized' };
      for (const name of components) await setPods(name, back);
      const { reason, message, codes } = await untilCondition((condition) => condition.reason === 'ImageNotPulled');
      const running = components.filter((name) => !stopped.includes(name)).join(', ');
      const missing = 'cannot be pulled without Secret flux-system/mirror, which the shoot does not have';
      const remedy =
        'copy it with additionalSecretResources, create it there, or correct imagePullSecret in ConfigMap garden-foo/flux-config';
      const state = `${stopped.length > 0 ? `Not available until then: ${stopped.join(', ')}. ` : ''}The former Pods of ${running} still run.`;
      const sentence = `Image "registry.example.com/fluxcd/IMAGE" ${missing}; ${remedy}. ${state} Kubernetes says: Back-off pulling image: 401 Unauthorized (config HASH)`;
      const pattern = patterned(sentence).replace('IMAGE', '[\\w-]+:[\\w.-]+').replace('HASH', '\\w+');
      expect(message).toMatch(new RegExp(`^${pattern}$`));
      expect([reason, codes]).toEqual(['ImageNotPulled', ['ERR_RETRYABLE_CONFIGURATION_PROBLEM']]);
      const line = async () =>
        (await stage.garden.find(resources.configMaps, { namespace: PROJECT, name: 'flux-status' }))?.data;
      await eventually('flux-status', line, (data) =>
        JSON.stringify(data ?? {}).includes('without Secret flux-system/mirror'),
      );
      const { status } = await stage.extension();
      expect(status?.lastOperation?.state).toBe('Succeeded');

      // With the Secret, the next look says what the registry says; with the right registry, all is well.
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'mirror' } } as KubeObject;
      await stage.shoot.create(resources.secrets, secret, { fieldManager });
      await untilCondition((condition) =>
        condition.message.includes(
          'correct the credentials in the original of Secret flux-system/mirror, or correct registry in ConfigMap garden-foo/flux-config.',
        ),
      );
      for (const name of components) await setPods(name, 'run');
      await untilCondition((condition) => condition.status === 'True');
    });

    it('warns before that nothing delivers the pull secret', async () => {
      const { status } = await stage.extension();
      expect(status?.providerStatus?.warnings).toEqual([
        'ConfigMap garden-foo/flux-config: imagePullSecret "mirror" is not copied into the shoot; add it to additionalSecretResources, create it in the project under the name flux-registry and omit imagePullSecret, or create it in flux-system and list it in existingSecrets',
      ]);
    });
  },
);
