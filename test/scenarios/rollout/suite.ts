import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { readState } from '../../../shared/rollout/text.ts';
import { aroundEachTest } from '../around-each-test.ts';
import { type Apis, eventually, PROJECT, patience, type Stage } from '../stage.ts';

const status = { namespace: PROJECT, name: 'flux-status' };
const config = (repositoryBranch: string) => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch, rollout: '{ maxInProgress: 1 }' },
});

/** A rollout in the product, with its watches and its queue, on embedded or real API servers. */
export function rolloutSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, { timeout: patience }, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    it('a Shoot takes its place before it follows an edit, also where flux-status is gone', async () => {
      await stage.setFluxConfig(config('first'));
      await stage.reconcileShoot();
      await stage.untilReady();
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually(
        'the first success',
        stage.extension,
        ({ status }) => status?.state?.bootstrapped !== undefined,
        ({ status }) => status,
      );
      for (const branch of ['second', 'third']) {
        // The second edit finds the place of the first one.
        if (branch === 'second') await stage.garden.delete(resources.configMaps, status);
        await stage.setFluxConfig(config(branch));
        await eventually(
          'the source of the edit',
          () => stage.shoot.find(gitRepositories, { namespace: 'flux-system', name: 'main-gitrepo' }),
          (live) => (live?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch === branch,
          (live) => live?.spec,
        );
        const live = await stage.garden.find<KubeObject & { data?: Record<string, string> }>(
          resources.configMaps,
          status,
        );
        const { revision } = (await stage.extension()).status?.state?.applied ?? {};
        expect(readState(live?.data?.RolloutState)).toMatchObject({ revision });
        expect(live?.data?.Rollout).toContain(`Revision ${revision} `);
      }
    });
  });
}
