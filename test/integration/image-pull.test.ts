import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { beforeEach, describe, expect, it } from 'vitest';
import { conditionFactory } from '../../shared/gardener/testing.ts';
import type { Condition } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { fieldsAt, textAt } from '../../shared/shapes.ts';
import { testDistribution } from '../made-distribution.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { eventually, inFlux, inProject, type Stage } from '../scenarios/stage.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';
import { startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

/** The releases of the test data, where they are present. */
const real = await testDistribution();
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
const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
const ofStatus = { fieldManager, subresource: 'status' } as const;
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

    aroundEachTest(startEmbeddedApis, distribution, (next) => {
      stage = next;
    });
    beforeEach(async () => {
      await follow({ ...config, fluxVersion: from });
      for (const name of components) await setPods(name, 'run');
      await untilCondition(({ status }) => status === 'True');
    });

    async function follow(data: Record<string, string>): Promise<void> {
      await stage.setFluxConfig(data);
      await stage.reconcileShoot();
      await stage.until(data.fluxVersion ?? '', ({ state }) => state?.applied?.fluxVersion === data.fluxVersion);
      await stage.untilReady();
    }

    /**
     * What the Deployment controller and a kubelet write: all Pods run, or the new ones wait for an image. The strategy of
     * the installed Deployment decides whether the former Pod stays until then.
     */
    async function setPods(name: string, state: 'run' | { reason: string; message: string }): Promise<void> {
      const live = await stage.inShoot(resources.deployments, name);
      const template = fieldsAt(live?.spec, 'template');
      const areRunning = state === 'run';
      const staysUp = textAt(live?.spec, 'strategy', 'type') !== 'Recreate';
      const status = {
        observedGeneration: live?.metadata.generation,
        replicas: areRunning || !staysUp ? 1 : 2,
        updatedReplicas: 1,
        availableReplicas: areRunning || staysUp ? 1 : 0,
        conditions: [conditionFactory({ type: 'Progressing', reason: 'ReplicaSetUpdated' })],
      };
      await stage.shoot.mergePatch(resources.deployments, inFlux(name), { status }, ofStatus);
      const pod = inFlux(`${name}-new`);
      await stage.shoot.delete(pods, pod);
      if (areRunning) return;
      const metadata = { ...pod, labels: fieldsAt(template, 'metadata', 'labels') };
      const manifest = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template?.spec } as KubeObject;
      await stage.shoot.create(pods, manifest, { fieldManager });
      const [container] = (manifest.spec as { containers: { name: string; image: string }[] }).containers;
      const waiting = { name: container?.name, image: container?.image, imageID: '', ready: false, restartCount: 0 };
      const containerStatuses = [{ ...waiting, state: { waiting: state } }];
      await stage.shoot.mergePatch(pods, pod, { status: { containerStatuses } }, ofStatus);
    }

    const untilCondition = async (isWanted: (condition: Condition) => boolean) => {
      const isFound = (one: Condition) => one.type === 'FluxReady' && isWanted(one);
      const live = await stage.until('the condition', ({ conditions }) => conditions?.some(isFound) === true);
      return live.status?.conditions?.find(isFound) as Condition;
    };

    it('says on the Extension and in flux-status what is wrong and where to correct it, and what still runs', async () => {
      // A warning comes before.
      expect((await stage.extension()).status?.providerStatus?.warnings).toEqual([
        'ConfigMap garden-foo/flux-config: imagePullSecret "mirror" is not copied into the shoot; add it to additionalSecretResources, create it in the project under the name flux-registry and omit imagePullSecret, or create it in flux-system and list it in existingSecrets',
      ]);
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
      const line = async () => (await stage.garden.find(resources.configMaps, inProject('flux-status')))?.data;
      await eventually('flux-status', line, (data) =>
        JSON.stringify(data ?? {}).includes('without Secret flux-system/mirror'),
      );
      expect((await stage.extension()).status?.lastOperation?.state).toBe('Succeeded');

      // With the Secret, the next look says what the registry says; with the right registry, all is well.
      await stage.putSecret('shoot', inFlux('mirror'), {});
      await untilCondition((condition) =>
        condition.message.includes(
          'correct the credentials in the original of Secret flux-system/mirror, or correct registry in ConfigMap garden-foo/flux-config.',
        ),
      );
      for (const name of components) await setPods(name, 'run');
      await untilCondition((condition) => condition.status === 'True');
    });
  },
);
