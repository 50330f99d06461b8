import { NAMESPACE } from '../../infra/webhooks/names.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import {
  type Identity,
  type Place,
  rulesOf,
  shippedIdentities,
  shippedRbac,
  tokenOf,
} from '../scenarios/identities.ts';
import type { Api, Apis } from '../scenarios/stage.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { gardenCrds, installCrds, seedCrds } from './cluster/crds.ts';
import { type Etcd, rememberEtcd, startEtcd } from './cluster/etcd.ts';
import { requestJson } from './cluster/request.ts';
import { applyObjects } from './install/objects.ts';

/** Three real API servers over one etcd, with Gardener's CRDs, and the shipped roles in garden and seed. */
export interface RealApis extends Apis {
  servers: Record<Place | 'shoot', ApiServer>;
  /** Holds the objects of all three; the prefix of each is its name. */
  etcd: Etcd;
  /** Restores the state after the start. */
  forget(): Promise<void>;
}

/** Returns the ServiceAccounts, roles and bindings to apply in each place. */
export type Rights = (place: Place) => Promise<KubeObject[]>;

/**
 * Requires `seedCrds`.
 * @param args further flags of the API servers
 */
export async function startRealApis(
  rights: Rights = shippedRbac,
  args: Partial<Record<Place, string[]>> = {},
): Promise<RealApis> {
  const etcd = await startEtcd();
  const identities = await shippedIdentities();
  const tokens = identities.map(({ token, user }) => ({ token, user, uid: user }));
  const [garden, seed, shoot] = await Promise.all([
    startApiServer({ etcd, prefix: 'garden', tokens, auditLog: true, args: args.garden ?? [] }),
    startApiServer({ etcd, prefix: 'seed', tokens, auditLog: true, args: args.seed ?? [] }),
    startApiServer({ etcd, prefix: 'shoot' }),
  ]);
  await Promise.all([
    installCrds(garden, gardenCrds),
    installCrds(seed, seedCrds() ?? []),
    grant(garden, identities, await rights('garden')),
    grant(seed, identities, await rights('seed')),
  ]);
  const forget = await rememberEtcd(etcd);
  return {
    garden: apiOf(garden),
    seed: apiOf(seed),
    shoot: apiOf(shoot),
    servers: { garden, seed, shoot },
    etcd,
    forget,
    async stop() {
      await Promise.all([garden.stop(), seed.stop(), shoot.stop()]);
      await etcd.stop();
    },
  };
}

function apiOf({ url, ca, adminToken, kubeconfig }: ApiServer): Api {
  return { url, ca, token: adminToken, tokenOf, kubeconfig };
}

/** Applies the shipped roles and waits until the server enforces them. */
async function grant(server: ApiServer, identities: Identity[], objects: KubeObject[]): Promise<void> {
  await applyObjects(server, objects);
  for (const [name, [rule]] of Object.entries(rulesOf(objects))) {
    const user = identities.find((identity) => identity.name === name)?.user;
    const resourceAttributes = {
      // Some rights apply only to this namespace.
      namespace: NAMESPACE,
      verb: rule?.verbs[0],
      group: rule?.apiGroups[0],
      resource: rule?.resources[0],
      name: rule?.resourceNames?.[0],
    };
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, resourceAttributes },
    };
    const ask = async () => {
      const answer = await requestJson(server, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
      return (answer as { status: { allowed: boolean } }).status.allowed;
    };
    while (!(await ask())) await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
