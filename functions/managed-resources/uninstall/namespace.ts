import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { servedKind } from '../shoot/kinds.ts';

const kind = (group: string, plural: string, name: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced: true,
});

/** Kubernetes' own kinds whose objects may belong to a user. */
const kinds: Resource[] = [
  kind('apps', 'deployments', 'Deployment'),
  kind('apps', 'statefulsets', 'StatefulSet'),
  kind('apps', 'daemonsets', 'DaemonSet'),
  kind('batch', 'jobs', 'Job'),
  kind('batch', 'cronjobs', 'CronJob'),
  kind('', 'pods', 'Pod'),
  kind('', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  kind('', 'services', 'Service'),
  resources.secrets,
  resources.configMaps,
];

/** Where more objects of a kind are left, some are a user's. */
const MOST_OBJECTS = 500;

/** Kubernetes creates this ConfigMap in every namespace. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * True when a namespace holds nothing that a user may need: no workload or custom resource that Flux has deployed there,
 * no record of a Helm release, no key that decrypts a user's Secrets. A kind that cannot be listed counts as present.
 * @param isTimeUp once true, no further kind is listed
 */
export async function isEmptyNamespace(
  shoot: KubeClient,
  namespace: string,
  isTimeUp: () => boolean,
): Promise<boolean> {
  const custom = await customKinds(shoot, isTimeUp);
  if (custom === undefined) return false;
  const all = [
    ...kinds.map((kind) => ({ kind, isUsers: isUserObject })),
    ...custom.map((kind) => ({ kind, isUsers: isIndependent })),
  ];
  const empty = await inParallel(all, ({ kind, isUsers }) => hasNone(shoot, kind, namespace, isUsers), isTimeUp);
  return empty.length === all.length && !empty.includes(false);
}

/** CRDs may be large: these are at most some tens of MiB, of which one CRD at a time is in memory. */
const CRDS_AT_ONCE = 100;

/**
 * Returns the kinds that the shoot serves besides Kubernetes' own and Flux's; undefined when the time was up before all
 * were known.
 */
async function customKinds(shoot: KubeClient, isTimeUp: () => boolean): Promise<Resource[] | undefined> {
  const found: Resource[] = [];
  const onItem = (crd: KubeObject) => {
    const kind = servedKind(crd);
    if (kind?.namespaced && !kind.group.endsWith('.fluxcd.io')) found.push(kind);
  };
  let next: string | undefined;
  do {
    if (next !== undefined && isTimeUp()) return undefined;
    const options = { limit: CRDS_AT_ONCE, continue: next, onItem };
    next = (await shoot.list(resources.customResourceDefinitions, options)).continue;
  } while (next !== undefined);
  return found;
}

/** A kind may be unavailable, for example because its conversion webhook is down; then its objects count as present. */
async function hasNone(
  shoot: KubeClient,
  kind: Resource,
  namespace: string,
  isUsers: (object: KubeObject) => boolean,
): Promise<boolean> {
  try {
    const page = await unlessGone(shoot.list(kind, { namespace, metadataOnly: true, limit: MOST_OBJECTS }));
    return page?.continue === undefined && page?.items.some(isUsers) !== true;
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}

function isUserObject({ kind, metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return !(kind === 'ConfigMap' && metadata.name === ROOT_CA);
}

/** An object with an owner, as network plugins create one for each Pod, is deleted with its owner. */
function isIndependent(object: KubeObject): boolean {
  return isUserObject(object) && object.metadata.ownerReferences === undefined;
}
