import { type KubeObject, resources } from '../kube/resource.ts';
import type { Subscription } from '../runtime/definition.ts';

/** The ConfigMap with a project's configuration, and the Secret with the credentials of its repository. */
export const FLUX_CONFIG = 'flux-config';
export const FLUX_SOURCE = 'flux-source';

/** Name of the landscape's pull secret in the garden and in the shoots; the rights name it. */
export const PULL_SECRET = 'shoot-flux-pull-secret';

/** Names of the objects in the shoot, as in the first implementation, so that its Shoots see no other. */
export const MAIN_GIT_REPOSITORY = 'main-gitrepo';
export const MAIN_KUSTOMIZATION = 'main-ks';
/** Keys of `flux-source` with the key pair that a rotation has prepared; it never leaves the garden (decision 19). */
export const NEXT_IDENTITY = 'identity.next';
export const NEXT_PUBLIC_KEY = 'identity.next.pub';

/** Both objects map to the key of the project's configuration. */
const keys = (object: KubeObject, cluster: string) => [
  { cluster, namespace: object.metadata.namespace ?? '', name: FLUX_CONFIG },
];

/** Reports every change of the configuration's content. `fan-out` and `keys` subscribe to it. */
export const fluxConfigSubscription: Subscription = {
  in: 'garden',
  resource: resources.configMaps,
  fieldSelector: `metadata.name=${FLUX_CONFIG}`,
  wakes: ({ metadata, data, binaryData }) => [metadata.uid, data, binaryData],
  keys,
};

/** Reports every change of the credentials, without their content. */
export const fluxSourceSubscription: Subscription = {
  in: 'garden',
  resource: resources.secrets,
  fieldSelector: `metadata.name=${FLUX_SOURCE}`,
  metadataOnly: true,
  wakes: ({ metadata }) => metadata.resourceVersion,
  keys,
};
