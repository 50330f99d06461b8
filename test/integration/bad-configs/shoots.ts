import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withFullStop } from '../../../shared/errors.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, type Stage, startStage } from '../../scenarios/stage.ts';
import { startEmbeddedApis } from '../embedded-apis.ts';
import { type BadConfig, fluxConfigOf, HIDDEN, specOf, URL } from './case.ts';

const fieldManager = 'person';
const base64 = (content: Record<string, string>) =>
  Object.fromEntries(Object.entries(content).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

export type Age = 'a new Shoot' | 'a running Shoot';

/** Tests that each configuration is the error of a Shoot, with its sentence, and changes nothing in it. */
export function describeShoots(configs: readonly BadConfig[], distribution: string, ages: Age[]): void {
  describe.each(ages)('%s', (age) => {
    let apis: Apis;
    let stage: Stage;
    let before: unknown[];
    const isNew = age === 'a new Shoot';

    beforeAll(async () => {
      apis = await startEmbeddedApis();
      stage = await startStage(apis, distribution);
      await stage.startProduct();
      if (!isNew) {
        await stage.setFluxConfig({ repositoryUrl: URL, repositoryBranch: 'main', syncMode: 'Reconcile' });
        await stage.reconcileShoot();
        await stage.untilReady();
      }
      before = [await everything(), await contents()];
    });

    afterAll(async () => {
      await stage?.[Symbol.asyncDispose]();
      await apis?.stop();
    });

    const secret = (namespace: string, name: string, content: Record<string, string>) => {
      const isRegistry = '.dockerconfigjson' in content;
      const type = isRegistry ? 'kubernetes.io/dockerconfigjson' : 'Opaque';
      return {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace, name },
        type,
        data: base64(content),
      } as KubeObject;
    };
    const untilError = (sentence: string) =>
      eventually(
        sentence,
        stage.extension,
        ({ metadata, status }) =>
          status?.lastError?.description === sentence &&
          status.lastOperation?.description === sentence &&
          status.observedGeneration === metadata.generation &&
          metadata.annotations?.['gardener.cloud/operation'] === undefined,
        ({ status }) => status?.lastError?.description,
        30,
      );

    /** What the shoot has, and what the seed would write there. */
    const everything = async () => {
      const inSeed = { namespace: CONTROL_PLANE };
      const lists = [
        await stage.seed.list(resources.managedResources, inSeed),
        await stage.seed.list(resources.secrets, inSeed),
        await stage.shoot.list(resources.deployments, {}),
        await stage.shoot.list(resources.secrets, {}),
        await stage.shoot.list(resources.configMaps, {}),
        await stage.shoot.list(resources.customResourceDefinitions, {}),
      ];
      const objects = lists
        .flatMap(({ items }) => items)
        .filter(({ metadata }) => !metadata.name.startsWith('ref-its-'));
      return objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name} ${metadata.uid}`);
    };
    const contents = async () =>
      Object.values(await stage.managedResources()).map(({ metadata, spec }) => [metadata.uid, spec.secretRefs]);

    /** An error of its own while the other parts change, so that no mixture of two configurations is valid. */
    const between = { providerConfig: fluxConfigOf({ between: true }) };

    test.each(configs.filter(({ isRefusedByApi }) => isRefusedByApi !== true))(
      'installs nothing and reports the error: $what',
      async (config) => {
        await stage.reconcileShoot(between);
        await eventually(
          'the first error',
          stage.extension,
          ({ status }) => status?.lastError?.description.includes('between') === true,
        );
        for (const name of ['flux-sops', 'flux-variables', 'flux-registry'])
          await stage.garden.delete(resources.secrets, { namespace: PROJECT, name });
        for (const [name, content] of Object.entries(config.ofProject ?? {})) {
          await stage.garden.apply(resources.secrets, secret(PROJECT, name, content), { fieldManager });
        }
        for (const [name, content] of Object.entries(config.contents ?? {})) {
          await stage.seed.apply(resources.secrets, secret(CONTROL_PLANE, `ref-its-${name}`, content), {
            fieldManager,
          });
        }
        await stage.setFluxConfig(config.fluxConfig);
        await stage.reconcileShoot({
          providerConfig: config.providerConfig,
          spec: specOf(config),
          metadata: { labels: config.labels ?? {} },
        });
        const { status } = await untilError(withFullStop(config.sentence));
        expect(status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
        expect([await everything(), await contents()]).toEqual(before);
        if (isNew) expect(await contents()).toEqual([]);
        const events = (await stage.garden.list(resources.events, { namespace: PROJECT })).items;
        for (const seen of [stage.logLines.join(''), JSON.stringify(status), JSON.stringify(events)])
          expect(seen).not.toContain(HIDDEN);
      },
    );
  });
}
