import { join } from 'node:path';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { requestJson } from '../cluster/request.ts';

type Server = Pick<ApiServer, 'url' | 'ca' | 'adminToken'>;

/**
 * Applies objects of any kind as the administrator, in the given order, as `kubectl apply --server-side` does. Unknown
 * fields are errors.
 * @param dryRun true: the server only checks them
 * @returns them as they are stored
 * @throws Error with the path and the server's sentence for the first one that is not accepted
 */
export async function applyObjects(server: Server, objects: KubeObject[], dryRun = false): Promise<KubeObject[]> {
  const query = `fieldManager=install&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`;
  return eachPath(server, objects, (path, object) => requestJson(server, 'PATCH', `${path}?${query}`, object));
}

/** Deletes objects of any kind. */
export async function deleteObjects(server: Server, objects: KubeObject[]): Promise<void> {
  await eachPath(server, objects, (path) => requestJson(server, 'DELETE', path));
}

async function eachPath(
  server: Server,
  objects: KubeObject[],
  act: (path: string, object: KubeObject) => Promise<unknown>,
): Promise<KubeObject[]> {
  const answers: KubeObject[] = [];
  const kinds = new Map<string, Served[]>();
  for (const object of objects) {
    const { apiVersion, kind } = object;
    const served = kinds.get(apiVersion) ?? (await servedBy(server, apiVersion));
    kinds.set(apiVersion, served);
    const resource = served.find((candidate) => candidate.kind === kind && !candidate.name.includes('/'));
    if (resource === undefined) throw new Error(`${apiVersion} has no kind ${kind}`);
    answers.push((await act(pathOf(object, resource), object)) as KubeObject);
  }
  return answers;
}

/** Lists objects by the plural of their kind, in one namespace or in all. */
export async function listObjects(
  server: Server,
  plural: string,
  namespace?: string,
  labelSelector = '',
): Promise<KubeObject[]> {
  const { groups } = (await requestJson(server, 'GET', '/apis')) as {
    groups: { versions: { groupVersion: string }[] }[];
  };
  const served = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion));
  for (const apiVersion of ['v1', ...served]) {
    if ((await servedBy(server, apiVersion)).every(({ name }) => name !== plural)) continue;
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    const query = new URLSearchParams({ labelSelector });
    const list = await requestJson(server, 'GET', `${rootOf(apiVersion)}${scope}/${plural}?${query}`);
    return (list as { items: KubeObject[] }).items;
  }
  throw new Error(`no group has ${plural}`);
}

/** Returns a token of a ServiceAccount, as the kubelet requests it for a Pod. */
export async function serviceAccountToken(
  server: Server,
  namespace: string,
  name: string,
  { expirationSeconds = 43_200, audiences }: { expirationSeconds?: number; audiences?: string[] } = {},
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds, audiences },
  };
  const { status } = (await requestJson(server, 'POST', path, request)) as { status: { token: string } };
  return status.token;
}

/** Returns the user that a token belongs to. */
export async function userOf(server: Server, token: string): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = await requestJson({ ...server, adminToken: token }, 'POST', path, review);
  return (answer as { status: { userInfo: { username: string } } }).status.userInfo.username;
}

export const namespaceOf = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
});

/** Stand-ins for the resources with which gardener-apiserver registers extensions. */
export const registrationKinds = join(import.meta.dirname, 'registration-kinds.yaml');

/** Stand-ins for kinds of other projects that the charts can use. */
export const optionalKinds = join(import.meta.dirname, 'optional-kinds.yaml');

interface Served {
  name: string;
  kind: string;
  namespaced: boolean;
}

const rootOf = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`);

async function servedBy(server: Server, apiVersion: string): Promise<Served[]> {
  const { resources } = (await requestJson(server, 'GET', rootOf(apiVersion))) as { resources: Served[] };
  return resources;
}

function pathOf(
  { apiVersion, metadata: { namespace, name } }: KubeObject,
  { name: plural, namespaced }: Served,
): string {
  const scope = namespaced ? `/namespaces/${namespace}` : '';
  return `${rootOf(apiVersion)}${scope}/${plural}/${encodeURIComponent(name)}`;
}
