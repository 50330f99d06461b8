import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { readState } from '../../../shared/gardener/rollout.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { aroundEachTest } from '../around-each-test.ts';
import { type Apis, eventually, PROJECT, type Stage } from '../stage.ts';

const status = { namespace: PROJECT, name: 'flux-status' };
const config = (repositoryBranch: string) => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch, rollout: '{ maxInProgress: 1 }' },
});

/** A rollout in the product, with its watches and its queue, on embedded or real API servers. */
export function rolloutSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    it('a Shoot takes its place before it follows an edit, also where flux-status is gone', async () => {
      await stage.setFluxConfig(config('first'));
      await stage.deliver();
      await stage.bootstrap();
      // A late run of project-status may create flux-status first.
      let creators: (string | undefined)[] = [];
      for (let edit = 1; edit <= 5 && !creators.includes('shoot-flux-managed-resources'); edit++) {
        await stage.garden.delete(resources.configMaps, status);
        creators = appliersOf(await followed(`edit-${edit}`));
      }
      expect(creators).toContain('shoot-flux-managed-resources');
      // This edit finds the place of the one before.
      await followed('last');
    });

    /** Edits the branch, and returns flux-status once the shoot has it. */
    async function followed(branch: string): Promise<KubeObject> {
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
      return live as KubeObject;
    }
  });
}

/** Who has created or completed an object by an apply. */
function appliersOf({ metadata }: KubeObject): (string | undefined)[] {
  const { managedFields = [] } = metadata as { managedFields?: { manager?: string; operation?: string }[] };
  return managedFields.filter(({ operation }) => operation === 'Apply').map(({ manager }) => manager);
}
