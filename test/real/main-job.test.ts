import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { describe, expect, it } from 'vitest';
import { serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { beat, HEARTBEAT } from '../../infra/process/heartbeat.ts';
import { NAMESPACE } from '../../infra/webhooks/names.ts';
import { resources } from '../../shared/kube/resource.ts';
import { patientClient } from '../patient-client.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { type Place, tokenOf } from '../scenarios/identities.ts';
import { landscapeSuite } from '../scenarios/landscape.ts';
import { mainJobSuite } from '../scenarios/main-job.ts';
import { projectStatusSuite } from '../scenarios/project/suite.ts';
import { removalSuite } from '../scenarios/removal.ts';
import { rolloutSuite } from '../scenarios/rollout/suite.ts';
import { creating, eventually, inProject, PROJECT, type Stage } from '../scenarios/stage.ts';
import { startRealApis } from './apis.ts';
import { requestJson } from './cluster/request.ts';
import { chartRights } from './install/chart-rights.ts';
import { type Ground, onRealApis, rightsSuffice } from './on-real-apis.ts';
import { refusing } from './refusing.ts';
import { dispensableRights } from './rights.ts';

const suites = (ground: Ground) => {
  const { startApis, fluxDistribution, apis } = ground;
  mainJobSuite('the main job', startApis, fluxDistribution);
  removalSuite('removal', startApis, fluxDistribution);
  landscapeSuite('defaults and policy', startApis, fluxDistribution);
  // It does not matter to a rollout what a release contains; a small one is applied sooner.
  rolloutSuite('a rollout', startApis, standInDistribution.folder);

  projectStatusSuite('the status of a project', startApis, 60);

  policySuite(ground);

  it('creates and renews the Lease of the heartbeat', async () => {
    const { url, ca } = apis().seed;
    const seed = patientClient({ server: url, ca, token: tokenOf('heartbeat') });
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

  rightsSuffice(ground);

  it.each<Place>(['garden', 'seed'])(
    'needs each right in the %s: without any one, a request is refused',
    async (place) => {
      expect(await dispensableRights(apis().servers[place], await chartRights(place))).toEqual([]);
    },
  );
};

onRealApis('real API servers, real releases, the rights that the charts render', suites, () =>
  startRealApis(chartRights),
);

const OPERATION = 'gardener.cloud/operation';
const SECRETS = `/api/v1/namespaces/${PROJECT}/secrets?dryRun=All`;
const source = { apiVersion: 'v1', kind: 'Secret', metadata: inProject('flux-source') };
const sentence =
  'Secret garden-foo/flux-source cannot be created, because the ValidatingAdmissionPolicy no-secrets denies it; ' +
  'create it empty with `kubectl create secret generic flux-source --namespace garden-foo`, and shoot-flux fills it.';

/** The garden's own policy refuses a Secret of `keys`, in the words of a real API server. */
function policySuite({ startApis, fluxDistribution, apis }: Ground): void {
  describe('a policy that refuses flux-source', () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    it('is named where users look, until a member has created the Secret, whose key can then be rotated', async () => {
      const { garden } = apis().servers;
      await using _policy = await refusing(garden, {
        ...{ name: 'no-secrets', group: '', resource: 'secrets', operation: 'CREATE' },
        condition: `request.userInfo.username == '${serviceAccountUser('keys')}'`,
        probe: () => requestJson({ ...garden, adminToken: tokenOf('keys') }, 'POST', SECRETS, source),
      });
      await stage.setFluxConfig({ repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryType: 'private' });
      await stage.reconcileShoot({ status: { lastOperation: creating } });
      const { status } = await eventually(
        'the error of the Shoot',
        stage.extension,
        (live) => live.status?.lastError?.description === sentence,
        (live) => live.status,
      );
      expect(status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
      await stage.garden.create(resources.secrets, source, { fieldManager: 'person' });
      await stage.untilReady();
      await stage.annotateFluxConfig({ [OPERATION]: 'rotate-ssh-keypair-start' });
      await eventually(
        'the operation has ended',
        () => stage.garden.find(resources.configMaps, inProject('flux-config')),
        (live) => live?.metadata.annotations?.[OPERATION] === undefined,
      );
    });
  });
}
