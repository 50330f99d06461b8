import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { describe, expect, it } from 'vitest';
import { beat, HEARTBEAT } from '../../infra/process/heartbeat.ts';
import { NAMESPACE } from '../../infra/webhooks/names.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { changesSuite } from '../scenarios/changes.ts';
import { foreignSuite } from '../scenarios/foreign.ts';
import { type Place, tokenOf } from '../scenarios/identities.ts';
import { landscapeSuite } from '../scenarios/landscape.ts';
import { mainJobSuite } from '../scenarios/main-job.ts';
import { projectStatusSuite } from '../scenarios/project/suite.ts';
import { protectionSuite } from '../scenarios/protection.ts';
import { removalSuite } from '../scenarios/removal.ts';
import { rolloutSuite } from '../scenarios/rollout/suite.ts';
import { startRealApis } from './apis.ts';
import { chartRights } from './install/chart-rights.ts';
import { type Ground, onRealApis } from './on-real-apis.ts';
import { policySuite } from './refused-by-policy.ts';
import { dispensableRights, refused } from './rights.ts';

const suites = (ground: Ground) => {
  const { startApis, fluxDistribution, apis } = ground;
  mainJobSuite('the main job', startApis, fluxDistribution);
  changesSuite('changes', startApis, fluxDistribution);
  removalSuite('removal', startApis, fluxDistribution);
  landscapeSuite('defaults and policy', startApis, fluxDistribution);
  foreignSuite('a foreign Flux', startApis, fluxDistribution);
  protectionSuite('protection', startApis, fluxDistribution);
  // It does not matter to a rollout what a release contains; a small one is applied sooner.
  rolloutSuite('a rollout', startApis, standInDistribution.folder);

  projectStatusSuite('the status of a project', startApis, 60);

  policySuite(ground);

  it('creates and renews the Lease of the heartbeat', async () => {
    const { url, ca } = apis().seed;
    const seed = createKubeClient({ server: url, ca, token: tokenOf('heartbeat') });
    try {
      await beat(seed, NAMESPACE, new Date('2026-01-02T03:04:05.678Z'));
      await beat(seed, NAMESPACE, new Date('2026-01-02T03:04:35.678Z'));
      const name = { namespace: NAMESPACE, name: HEARTBEAT };
      const spec = { holderIdentity: 'shoot-flux', renewTime: '2026-01-02T03:04:35.678000Z' };
      expect(await seed.find(resources.leases, name)).toMatchObject({ spec });
    } finally {
      seed.close();
    }
  });

  describe('the rights that the charts render', () => {
    it('suffice', async () => {
      expect(await refused(apis().servers)).toEqual([]);
    });

    it.each<Place>(['garden', 'seed'])(
      'in the %s are each needed: without any one, a request is refused',
      async (place) => {
        expect(await dispensableRights(apis().servers[place], await chartRights(place))).toEqual([]);
      },
    );
  });
};

onRealApis('real API servers, real releases, the rights that the charts render', suites, () =>
  startRealApis(chartRights),
);
