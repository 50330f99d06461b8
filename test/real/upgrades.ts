import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { gitRepositories } from '../scenarios/main-job.ts';
import { type Apis, eventually, type Stage } from '../scenarios/stage.ts';

interface Crd extends KubeObject {
  spec: { versions: { name: string; storage: boolean }[] };
}

/** From one real release to another, where the API server has a say: it refuses CRDs that lack a stored version. */
export function upgradeSuite(startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe('upgrades', () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const ask = async (fluxVersion: string) => {
      const repository = { repositoryUrl: 'https://git.example.com/a', repositoryType: 'public' };
      await stage.setFluxConfig({ ...repository, repositoryBranch: 'main', fluxVersion, syncMode: 'Reconcile' });
      await stage.reconcileShoot();
    };
    const untilInstalled = async (version: string) => {
      await eventually(
        version,
        stage.extension,
        ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied?.fluxVersion === version,
        ({ status }) => status,
      );
      await stage.untilReady();
    };

    it('a later release takes the place of the one before, and what is synchronised stays', async () => {
      await ask('v2.7.5');
      await untilInstalled('v2.7.5');
      const source = { namespace: 'flux-system', name: 'main-gitrepo' };
      const before = await stage.shoot.find(gitRepositories, source);
      await ask('v2.9.4');
      await untilInstalled('v2.9.4');
      const name = 'gitrepositories.source.toolkit.fluxcd.io';
      const crd = await stage.shoot.find(resources.customResourceDefinitions, { name });
      expect(crd?.metadata.labels).toMatchObject({ 'app.kubernetes.io/version': 'v2.9.4' });
      expect((await stage.shoot.find(gitRepositories, source))?.metadata.uid).toBe(before?.metadata.uid);
    });

    it('a release too far on is refused with the remedy, and the remedy helps', async () => {
      await ask('v2.3.0');
      await untilInstalled('v2.3.0');
      await ask('v2.9.4');
      const refused = await eventually(
        'the refusal',
        stage.extension,
        ({ status }) => status?.lastError != null,
        ({ status }) => status,
        60,
      );
      expect(refused.status?.lastError).toMatchObject({
        description: expect.stringMatching(/v1beta2.*release in between.*flux migrate/),
        codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      });
      await ask('v2.7.5');
      await untilInstalled('v2.7.5');
      await migrate();
      await ask('v2.9.4');
      await untilInstalled('v2.9.4');
    });

    /** What "flux migrate" does with CRDs whose objects are stored in their present form already. */
    const migrate = async () => {
      const labelSelector = 'app.kubernetes.io/part-of=flux';
      const { items } = await stage.shoot.list<Crd>(resources.customResourceDefinitions, { labelSelector });
      for (const { metadata, spec } of items) {
        const storedVersions = spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
        const options = { fieldManager: 'flux', subresource: 'status' as const };
        await stage.shoot.mergePatch(
          resources.customResourceDefinitions,
          metadata,
          { status: { storedVersions } },
          options,
        );
      }
    };
  });
}
