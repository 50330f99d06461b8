import { beforeAll, describe, expect, test } from 'vitest';
import { withFullStop } from '../../../shared/errors.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { aroundAllTests } from '../../scenarios/around-each-test.ts';
import { eventually, inControlPlane, inProject, type Stage } from '../../scenarios/stage.ts';
import { startEmbeddedApis } from '../embedded-apis.ts';
import { type BadConfig, fluxConfigOf, HIDDEN, specOf, URL } from './case.ts';

export type Age = 'a new Shoot' | 'a running Shoot';

/** Tests that each configuration is the error of a Shoot, with its sentence, and changes nothing in it. */
export function describeShoots(configs: readonly BadConfig[], distribution: string, ages: Age[]): void {
  describe.each(ages)('%s', (age) => {
    let stage: Stage;
    aroundAllTests(startEmbeddedApis, distribution, (next) => {
      stage = next;
    });
    beforeAll(async () => {
      if (age === 'a new Shoot') return;
      await stage.setFluxConfig({ repositoryUrl: URL, repositoryBranch: 'main', syncMode: 'Reconcile' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await stage.quiet();
    });

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
      );

    /** To garden and seed, apart from statuses, Events and the state of the project. */
    const writes = () =>
      stage.requests.filter(
        ({ method, resource }) => method !== 'GET' && !/^(extensions\.|events$|configmaps$)/.test(resource),
      );
    const inShoot = async () => {
      const { configMaps, customResourceDefinitions, deployments, secrets } = resources;
      const kinds = [configMaps, customResourceDefinitions, deployments, secrets];
      const lists = await Promise.all(kinds.map((kind) => stage.shoot.list(kind)));
      return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid));
    };

    /** An error of its own while the other parts change, so that no mixture of two configurations is valid. */
    const between = { providerConfig: fluxConfigOf({ between: true }) };

    test.each(configs.filter(({ isRefusedByApi }) => isRefusedByApi !== true))(
      'installs nothing and reports the error: $what',
      async (config) => {
        stage.requests.length = 0;
        const before = await inShoot();
        await stage.reconcileShoot(between);
        await eventually(
          'the first error',
          stage.extension,
          ({ status }) => status?.lastError?.description.includes('between') === true,
        );
        for (const name of ['flux-sops', 'flux-variables', 'flux-registry'])
          await stage.garden.delete(resources.secrets, inProject(name));
        for (const [name, content] of Object.entries(config.ofProject ?? {})) {
          await stage.putSecret('garden', inProject(name), content);
        }
        for (const [name, content] of Object.entries(config.contents ?? {})) {
          await stage.putSecret('seed', inControlPlane(`ref-its-${name}`), content);
        }
        await stage.setFluxConfig(config.fluxConfig);
        await stage.reconcileShoot({
          providerConfig: config.providerConfig,
          spec: specOf(config),
          metadata: { labels: config.labels ?? {} },
        });
        const { status } = await untilError(withFullStop(config.sentence));
        expect(status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
        expect(writes()).toEqual([]);
        expect(await inShoot()).toEqual(before);
        const events = await stage.events();
        for (const seen of [stage.logLines.join(''), JSON.stringify(status), JSON.stringify(events)])
          expect(seen).not.toContain(HIDDEN);
      },
    );
  });
}
