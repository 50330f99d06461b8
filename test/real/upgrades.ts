import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { type Apis, eventually, type Stage } from '../scenarios/stage.ts';

interface Crd extends KubeObject {
  spec: { versions: { name: string; storage: boolean }[] };
}

/** Upgrades between real Flux releases, where the API server refuses CRDs that lack a stored version. */
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

    it('upgrades to a later release and keeps the synchronised objects', async () => {
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

    it('reports a release that skips a required version, with a remedy that works', async () => {
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
        description: expect.stringMatching(/v1beta2.*intermediate release.*flux migrate/),
        codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      });
      await ask('v2.7.5');
      await untilInstalled('v2.7.5');
      await migrate();
      await ask('v2.9.4');
      await untilInstalled('v2.9.4');
    });

    /** Does what "flux migrate" does for CRDs whose objects are already stored in the current version. */
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
