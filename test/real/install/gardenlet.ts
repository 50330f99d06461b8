import { parse, stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { requestJson } from '../cluster/request.ts';
import { applyObjects, listObjects, serviceAccountToken } from './objects.ts';

/** A cluster with a gardenlet, as far as an installation notices which. */
export interface Host {
  values: Record<string, unknown>;
  /** Variables that every container gets. */
  environment: Record<string, string>;
  /** The only namespace of the garden in which this gardenlet creates ServiceAccounts. */
  namespace: string;
  /** What the name of the account that it injects begins with. */
  prefix: string;
  /** True: by this prefix, ShootRestriction permits no other account, and the project makes ours a member. */
  hasOnlyThatPrefix?: boolean;
}

export const seedHost = (seed: string): Host => ({
  values: gardenletValues(seed),
  environment: { SEED_NAME: seed },
  namespace: `seed-${seed}`,
  prefix: 'extension-',
});

export const selfHosted = (namespace: string, name: string): Host => ({
  values: selfHostedValues(namespace, name),
  environment: { SHOOT_NAME: name, SHOOT_NAMESPACE: namespace },
  namespace,
  prefix: `extension-shoot--${name}--`,
  hasOnlyThatPrefix: true,
});

/** The namespace that Gardener creates for an installation. Its name ends at random. */
export const INSTALLATION = 'extension-shoot-flux-x7k2p';

/** The name of the ControllerInstallation. */
const NAME = INSTALLATION.replace(/^extension-/, '');
const FOLDER = '/var/run/secrets/gardener.cloud/garden/generic-kubeconfig';
const INJECTED = 'garden-access-extension';
const REGISTRATION = 'controllerregistration.core.gardener.cloud/name';
const ACCOUNT = 'serviceaccount.resources.gardener.cloud';
const tokenLabels = {
  'resources.gardener.cloud/purpose': 'token-requestor',
  'resources.gardener.cloud/class': 'garden',
};

interface Clusters {
  garden: ApiServer;
  seed: ApiServer;
}

/**
 * Installs rendered objects in the cluster of the Pods, as gardenlet and gardener-controller-manager do: with access to
 * the garden injected where the objects do not bring their own, with a token in each garden-access Secret, and with the
 * ClusterRoles of extensions bound to the accounts that they select.
 * @returns the objects as they are applied, and the bindings in the garden
 */
export async function installAsGardener(
  { garden, seed }: Clusters,
  host: Host,
  rendered: KubeObject[],
): Promise<{ objects: KubeObject[]; bindings: KubeObject[] }> {
  const objects = structuredClone(rendered);
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  const injected = deployments.map((deployment) => inject(deployment, host)).includes(true);
  const own = [genericKubeconfig(garden), ...(injected ? [injectedAccess(host)] : [])];
  await applyObjects(seed, [...own, ...objects]);
  await applyObjects(garden, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: host.namespace } }]);
  await requestTokens({ garden, seed }, host);
  const bindings = [...(await bindRoles(garden)), ...(host.hasOnlyThatPrefix ? await bindToProject(garden, host) : [])];
  return { objects, bindings };
}

/** Binds the roles of the extension in a project, as Gardener does for its member with the role `extension:shoot-flux`. */
async function bindToProject(garden: ApiServer, { namespace, prefix }: Host): Promise<KubeObject[]> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const label = 'rbac.gardener.cloud/aggregate-to-extension-role=shoot-flux';
  const bindings = (await listObjects(garden, 'clusterroles', undefined, label)).map(({ metadata: { name } }) => ({
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata: { namespace, name } },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', namespace, name: `${prefix}shoot-flux` }],
  }));
  await applyObjects(garden, bindings);
  return bindings;
}

interface PodTemplate {
  metadata: { annotations?: Record<string, string> };
  spec: { containers: Container[]; volumes: object[] };
}

interface Container {
  env?: { name: string; value: string }[];
  volumeMounts: object[];
}

/** Returns whether the account of gardenlet was injected. */
function inject({ metadata, spec }: KubeObject, { environment }: Host): boolean {
  const { template } = spec as { template: PodTemplate };
  const { containers, volumes } = template.spec;
  for (const container of containers) {
    const variables = Object.entries(environment).map(([name, value]) => ({ name, value }));
    container.env = [...(container.env ?? []), ...variables];
  }
  const hasAccess = containers.some(({ env = [] }) => env.some(({ name }) => name === 'GARDEN_KUBECONFIG'));
  const isWanted = metadata.labels?.['extensions.gardener.cloud/inject-garden-kubeconfig'] !== 'false';
  if (hasAccess || !isWanted) return false;
  for (const container of containers) {
    container.env?.push({ name: 'GARDEN_KUBECONFIG', value: `${FOLDER}/kubeconfig` });
    container.volumeMounts.push({ name: 'garden-kubeconfig', mountPath: FOLDER, readOnly: true });
  }
  const source = (name: string, key: string) => ({ secret: { name, items: [{ key, path: key }] } });
  const sources = [source(GENERIC_KUBECONFIG, 'kubeconfig'), source(INJECTED, 'token')];
  volumes.push({ name: 'garden-kubeconfig', projected: { sources } });
  return true;
}

function genericKubeconfig(garden: ApiServer): KubeObject {
  const kubeconfig = parse(garden.kubeconfig());
  kubeconfig.users[0].user = { tokenFile: `${FOLDER}/token` };
  const metadata = { namespace: INSTALLATION, name: GENERIC_KUBECONFIG };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig: stringify(kubeconfig) } };
}

function injectedAccess({ prefix }: Host): KubeObject {
  const annotations = {
    [`${ACCOUNT}/name`]: `${prefix}${NAME}`,
    [`${ACCOUNT}/labels`]: JSON.stringify({ [REGISTRATION]: 'shoot-flux' }),
  };
  const metadata = { namespace: INSTALLATION, name: INJECTED, labels: tokenLabels, annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' };
}

/** Creates the account that each garden-access Secret names, and writes a token for it into the Secret. */
async function requestTokens({ garden, seed }: Clusters, host: Host): Promise<void> {
  const selector = Object.entries(tokenLabels).map((pair) => pair.join('='));
  for (const { metadata } of await listObjects(seed, 'secrets', INSTALLATION, selector.join(','))) {
    const name = metadata.annotations?.[`${ACCOUNT}/name`] ?? '';
    if (host.hasOnlyThatPrefix === true && !name.startsWith(host.prefix))
      throw new Error(`ShootRestriction forbids this gardenlet to create ServiceAccount ${host.namespace}/${name}`);
    const labels = JSON.parse(metadata.annotations?.[`${ACCOUNT}/labels`] ?? '{}') as Record<string, string>;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: host.namespace, name, labels } };
    await applyObjects(garden, [account]);
    const token = await serviceAccountToken(garden, host.namespace, name);
    const path = `/api/v1/namespaces/${INSTALLATION}/secrets/${metadata.name}?fieldManager=gardenlet`;
    const secret = { apiVersion: 'v1', kind: 'Secret', stringData: { token } };
    await requestJson(seed, 'PATCH', path, secret);
  }
}

/**
 * Binds the ClusterRoles of extensions to the accounts that they select: those in namespaces of seeds, and of those in
 * namespaces of projects only the ones that the gardenlets of self-hosted Shoots have injected.
 */
async function bindRoles(garden: ApiServer): Promise<KubeObject[]> {
  const label = 'authorization.gardener.cloud/custom-extensions-permissions=true';
  const apiGroup = 'rbac.authorization.k8s.io';
  const bindings: KubeObject[] = [];
  for (const { metadata } of await listObjects(garden, 'clusterroles', undefined, label)) {
    const { name, annotations = {} } = metadata;
    const { matchLabels } = JSON.parse(
      annotations['authorization.gardener.cloud/extensions-serviceaccount-selector'] ?? '',
    ) as {
      matchLabels: Record<string, string>;
    };
    const selector = Object.entries(matchLabels).map((pair) => pair.join('='));
    const accounts = (await listObjects(garden, 'serviceaccounts', undefined, selector.join(','))).map(
      (one) => one.metadata,
    );
    bindings.push({
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: accounts
        .filter(isOfExtension)
        .map(({ namespace, name }) => ({ kind: 'ServiceAccount', namespace, name })),
    });
  }
  await applyObjects(garden, bindings);
  return bindings;
}

const isOfExtension = ({ namespace = '', name }: KubeObject['metadata']) =>
  namespace.startsWith('seed-') || (/^garden(-|$)/.test(namespace) && name.startsWith('extension-shoot--'));

/** The name of the Secret with the kubeconfig of the garden that gardenlet makes for each installation. */
export const GENERIC_KUBECONFIG = 'generic-garden-kubeconfig-0123abcd';

const common = {
  version: 'v1.150.0',
  garden: { clusterIdentity: 'landscape-garden', genericKubeconfigSecretName: GENERIC_KUBECONFIG },
  gardenlet: { featureGates: { NodeAgentAuthorizer: true } },
};

/** The values that gardenlet adds when it renders the chart of a ControllerInstallation for a seed. */
export function gardenletValues(seed: string): Record<string, unknown> {
  return {
    gardener: {
      ...common,
      seed: {
        name: seed,
        clusterIdentity: `landscape-${seed}`,
        annotations: {},
        labels: { 'seed.gardener.cloud/gardenlet': 'true' },
        provider: 'local',
        region: 'here',
        volumeProvider: '',
        volumeProviders: [],
        ingressDomain: 'ingress.seed.example.com',
        protected: false,
        visible: true,
        taints: [],
        networks: { nodes: '10.0.0.0/16', pods: '10.1.0.0/16', services: '10.2.0.0/16', ipFamilies: ['IPv4'] },
        blockCIDRs: [],
        spec: { provider: { type: 'local', region: 'here' }, settings: { scheduling: { visible: true } } },
      },
    },
  };
}

/** The values that the gardenlet of a self-hosted Shoot adds: there is no seed. */
export function selfHostedValues(namespace: string, name: string): Record<string, unknown> {
  const shoot = { name, namespace, clusterIdentity: `landscape-${name}`, provider: 'local', region: 'here' };
  return { gardener: { ...common, selfHostedShootCluster: true, shoot } };
}
