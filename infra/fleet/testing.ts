import { gardenCrds } from '@shoot-flux/landscape/crds';
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

/** Returns the rights of a member of a project. */
export function membership(user: string, project: string): KubeObject[] {
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
    { apiVersion, kind: 'Role', metadata: { namespace, name }, rules: memberRules },
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

/** Tokens by who has them: a member of project `foo`, an operator, and somebody without any right. */
const tokens = { 'member-token': { name: 'mia' }, 'nobody-token': { name: 'nick' } };

/** Starts a garden in this process, and writes the kubeconfigs of three people; the namespace of each is `garden-foo`. */
export async function startGarden(objects: KubeObject[] = []) {
  const api = await startKubeApi({ authorization: 'RBAC', tokens, objects: gardenCrds() as unknown as JsonObject[] });
  for (const object of [...projectOf('foo'), ...membership('mia', 'foo'), ...objects]) {
    api.objects.create(object as unknown as Parameters<typeof api.objects.create>[0]);
  }
  const kubeconfig = (token: string) => {
    const cluster = { server: api.url, 'certificate-authority-data': Buffer.from(api.ca).toString('base64') };
    const config = kubeconfigOf({ token }, cluster) as unknown as { contexts: { context: object }[] };
    const contexts = config.contexts.map((entry) => ({
      ...entry,
      context: { ...entry.context, namespace: 'garden-foo' },
    }));
    return { ...config, contexts };
  };
  const people = await files({
    member: kubeconfig('member-token'),
    nobody: kubeconfig('nobody-token'),
    operator: kubeconfig(api.token),
  });
  return {
    api,
    /** Kubeconfig files. */
    people: people.paths,
    async [Symbol.asyncDispose]() {
      await people[Symbol.asyncDispose]();
      await api.stop();
    },
  };
}
