import { describe, expect, it } from 'vitest';
import { serviceAccountUser } from '../../infra/gardener/rbac.ts';
import { resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { tokenOf } from '../scenarios/identities.ts';
import { creating, eventually, PROJECT, type Stage } from '../scenarios/stage.ts';
import { requestJson } from './cluster/request.ts';
import type { Ground } from './on-real-apis.ts';
import { refusing } from './refusing.ts';

const OPERATION = 'gardener.cloud/operation';
const SECRETS = `/api/v1/namespaces/${PROJECT}/secrets?dryRun=All`;
const person = { fieldManager: 'person' };
const fluxConfig = { namespace: PROJECT, name: 'flux-config' };
const source = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: PROJECT, name: 'flux-source' } };
const refused =
  'Secret garden-foo/flux-source cannot be created, because the ValidatingAdmissionPolicy no-secrets denies it; ' +
  'create it empty with `kubectl create secret generic flux-source --namespace garden-foo`, and shoot-flux fills it.';

/** The garden's own policy refuses a Secret of `keys`, in the words of a real API server. */
export function policySuite({ startApis, fluxDistribution, apis }: Ground): void {
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
        (live) => live.status?.lastError?.description === refused,
        (live) => live.status,
      );
      expect(status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
      await stage.garden.create(resources.secrets, source, person);
      await stage.untilReady();
      const annotations = { [OPERATION]: 'rotate-ssh-keypair-start' };
      await stage.garden.mergePatch(resources.configMaps, fluxConfig, { metadata: { annotations } }, person);
      await eventually(
        'the operation has ended',
        () => stage.garden.find(resources.configMaps, fluxConfig),
        (live) => live?.metadata.annotations?.[OPERATION] === undefined,
      );
    });
  });
}
