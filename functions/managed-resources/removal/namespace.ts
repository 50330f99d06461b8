import type { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { servedKind } from '../kinds.ts';
import { unlessGone } from '../pages.ts';

const kind = (group: string, plural: string, name: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind: name,
  namespaced: true,
});

/** Of Kubernetes' own kinds, what somebody would miss. */
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

/** Kubernetes puts this one into every namespace. */
const ROOT_CA = 'kube-root-ca.crt';

/**
 * True when nothing is left in a namespace that somebody would miss: a workload or a custom resource that Flux has
 * deployed there, the record of a Helm release, the key with which a user's Secrets are decrypted. What cannot be told
 * counts as left.
 * @param isTimeUp once it says so nothing more is looked for
 */
export async function isVacant(shoot: KubeClient, namespace: string, isTimeUp: () => boolean): Promise<boolean> {
  const custom = await customKinds(shoot);
  const all = [
    ...kinds.map((kind) => ({ kind, isLeft: isMissed })),
    ...custom.map((kind) => ({ kind, isLeft: isNoPart })),
  ];
  const empty = await inParallel(all, ({ kind, isLeft }) => isEmpty(shoot, kind, namespace, isLeft), isTimeUp);
  return empty.length === all.length && !empty.includes(false);
}

/** The kinds that the shoot serves besides Kubernetes' own and Flux's. Their CRDs may be big, and pass by one by one. */
async function customKinds(shoot: KubeClient): Promise<Resource[]> {
  const found: Resource[] = [];
  await shoot.list(resources.customResourceDefinitions, {
    onItem: (crd) => {
      const kind = servedKind(crd);
      if (kind?.namespaced && !kind.group.endsWith('.fluxcd.io')) found.push(kind);
    },
  });
  return found;
}

/** Whoever serves the kind may be away: a conversion webhook, for example. */
async function isEmpty(
  shoot: KubeClient,
  kind: Resource,
  namespace: string,
  isLeft: (object: KubeObject) => boolean,
): Promise<boolean> {
  try {
    const page = await unlessGone(shoot.list(kind, { namespace, metadataOnly: true }));
    return page?.items.some(isLeft) !== true;
  } catch (error) {
    if (error instanceof KubeError) return false;
    throw error;
  }
}

function isMissed({ kind, metadata }: KubeObject): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return !(kind === 'ConfigMap' && metadata.name === ROOT_CA);
}

/** What a controller has made for something else, as network plugins do for each Pod, goes with that. */
function isNoPart(object: KubeObject): boolean {
  return isMissed(object) && object.metadata.ownerReferences === undefined;
}
