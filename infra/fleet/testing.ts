import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { gardenCrds } from '@shoot-flux/landscape/crds';
import { fluxCrds } from '@shoot-flux/landscape/flux/objects';
import { type JsonObject, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { emptyStatusMap, type Line, lineText, summaryOf } from '../../shared/gardener/status-map.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { kubeconfigOf } from '../../shared/kube/testing.ts';
import { files } from '../cli/testing.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/** The rights of a member in the namespace of a project (gardener.cloud:system:project-member-aggregation). */
const memberRules = [
  { apiGroups: ['core.gardener.cloud'], resources: ['shoots'], verbs: ['*'] },
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['*'] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['get', 'list', 'watch'] },
];

/** Those of a viewer, who sees no Secrets (gardener.cloud:system:project-viewer-aggregation). */
const viewerRules = memberRules.map(({ apiGroups, resources }) => ({
  ...{ apiGroups, verbs: ['get', 'list', 'watch'] },
  resources: resources.filter((name) => name !== 'secrets'),
}));

/** Returns the rights of a member of a project. */
export function membership(user: string, project: string, rules = memberRules): KubeObject[] {
  const namespace = `garden-${project}`;
  const name = `member-${project}-${user}`;
  const subjects = [{ kind: 'User', apiGroup, name: user }];
  const read = {
    apiGroups: ['core.gardener.cloud'],
    resources: ['projects'],
    resourceNames: [project],
    verbs: ['get'],
  };
  return [
    { apiVersion, kind: 'Role', metadata: { namespace, name }, rules },
    {
      ...{ apiVersion, kind: 'RoleBinding', metadata: { namespace, name }, subjects },
      roleRef: { apiGroup, kind: 'Role', name },
    },
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [read] },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      subjects,
      roleRef: { apiGroup, kind: 'ClusterRole', name },
    },
  ];
}

export function projectOf(name: string): KubeObject[] {
  const namespace = `garden-${name}`;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Project', metadata: { name }, spec: { namespace } },
  ];
}

/** Returns a Shoot as the garden's API server labels it. */
export function shootOn(seed: string, namespace: string, name: string, parts: Partial<KubeObject> = {}): KubeObject {
  const { metadata, ...rest } = parts;
  const labels = {
    ...{ [`name.seed.gardener.cloud/${seed}`]: 'true', 'extensions.extensions.gardener.cloud/shoot-flux': 'true' },
    ...metadata?.labels,
  };
  return {
    ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', spec: { seedName: seed } },
    ...{ metadata: { ...metadata, namespace, name, labels }, ...rest },
  };
}

/** Returns a ConfigMap `flux-status` with these lines. */
export function statusMapOf(
  namespace: string,
  lines: Record<string, Line>,
  more: Record<string, string> = {},
): KubeObject {
  const data = Object.fromEntries(Object.entries(lines).map(([name, line]) => [name, lineText(line, 300)]));
  return { ...emptyStatusMap(namespace), data: { ...data, ...more, Summary: summaryOf(data) } };
}

/** Tokens by who has them: a member of project `foo`, a viewer of it, an operator, and somebody without any right. */
const tokens = { 'member-token': { name: 'mia' }, 'viewer-token': { name: 'vera' }, 'nobody-token': { name: 'nick' } };

/** Kubeconfigs of shoots, as a garden gives them to members: by `<name>/viewerkubeconfig` or `<name>/adminkubeconfig`. */
type ShootKubeconfigs = Readonly<Record<string, string>>;

/** Starts a server in front of a garden that answers requests for kubeconfigs of shoots. */
async function startFront(listener: RequestListener, kubeconfigs: ShootKubeconfigs) {
  const { cert, key } = loopbackCertificate();
  const server = createServer({ cert, key }, (request, response) => {
    const kubeconfig = kubeconfigs[/\/shoots\/([^/]+\/\w+kubeconfig)$/.exec(request.url ?? '')?.[1] ?? ''];
    if (kubeconfig === undefined || /nobody/.test(request.headers.authorization ?? ''))
      return listener(request, response);
    // Like the real answer, without a name.
    const status = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ metadata: {}, status }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

/** Starts a garden in this process, and writes the kubeconfigs of four people; the namespace of each is `garden-foo`. */
export async function startGarden(objects: KubeObject[] = [], kubeconfigs: ShootKubeconfigs = {}) {
  const api = await startKubeApi({ authorization: 'RBAC', tokens, objects: gardenCrds() as unknown as JsonObject[] });
  for (const object of [
    ...projectOf('foo'),
    ...membership('mia', 'foo'),
    ...membership('vera', 'foo', viewerRules),
    ...objects,
  ]) {
    api.objects.create(object as unknown as Parameters<typeof api.objects.create>[0]);
  }
  const front = await startFront(api.listener, kubeconfigs);
  const kubeconfig = (token: string) => {
    const cluster = { server: front.url, 'certificate-authority-data': Buffer.from(api.ca).toString('base64') };
    const config = kubeconfigOf({ token }, cluster) as unknown as { contexts: { context: object }[] };
    const contexts = config.contexts.map((entry) => ({
      ...entry,
      context: { ...entry.context, namespace: 'garden-foo' },
    }));
    return { ...config, contexts };
  };
  const people = await files({
    member: kubeconfig('member-token'),
    viewer: kubeconfig('viewer-token'),
    nobody: kubeconfig('nobody-token'),
    operator: kubeconfig(api.token),
  });
  return {
    api,
    /** Kubeconfig files. */
    people: people.paths,
    async [Symbol.asyncDispose]() {
      await people[Symbol.asyncDispose]();
      await front.stop();
      await api.stop();
    },
  };
}

/** Starts the API server of a shoot with the CRDs of Flux, and a viewer, who reads everything except Secrets. */
export async function startShoot(objects: KubeObject[] = [], viewable = ['*']) {
  const isCrd = ({ kind }: KubeObject) => kind === 'CustomResourceDefinition';
  const crds = [...fluxCrds(), ...objects.filter(isCrd)] as unknown as JsonObject[];
  const api = await startKubeApi({
    authorization: 'RBAC',
    tokens: { 'viewer-token': { name: 'vera' } },
    objects: crds,
  });
  const rights = { apiGroups: viewable, resources: ['*'], verbs: ['get', 'list', 'watch'] };
  const name = 'viewers';
  const roles: KubeObject[] = [
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: [rights] },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata: { name } },
      subjects: [{ kind: 'User', apiGroup, name: 'vera' }],
      roleRef: { apiGroup, kind: 'ClusterRole', name },
    },
  ];
  const created = [
    ...roles,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } },
    ...objects.filter((one) => !isCrd(one)),
  ];
  for (const { status, ...object } of created) {
    api.objects.create(object as unknown as Parameters<typeof api.objects.create>[0]);
    if (status !== undefined) api.objects.patchStatus(object, status as object);
  }
  return api;
}

const conditionsOf = (ready: 'True' | 'False', message: string) => [
  { type: 'Ready', status: ready, reason: 'Any', message, lastTransitionTime: '2026-01-02T03:04:05Z' },
];

/** An object of Flux with its condition Ready. */
export function withReady(
  object: KubeObject,
  ready: 'True' | 'False',
  message = 'ok',
  status: object = {},
): KubeObject {
  return { ...object, status: { observedGeneration: 1, conditions: conditionsOf(ready, message), ...status } };
}

/** A Deployment of Flux that is available. */
export function controllerOf(name: string, status: object = {}): KubeObject {
  const labels = { 'app.kubernetes.io/part-of': 'flux', 'app.kubernetes.io/version': 'v2.9.4' };
  const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'manager', image: 'x' }] } };
  const replicas = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'flux-system', name, labels } },
    spec: { replicas: 1, selector: { matchLabels: { app: name } }, template },
    status: { observedGeneration: 1, ...replicas, ...status },
  };
}
