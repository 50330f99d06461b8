import { type KubeObject, resources } from '../kube/resource.ts';
import type { Subscription } from '../runtime/definition.ts';

/** The ConfigMap with a project's configuration, and the Secret with the credentials of its repository. */
export const FLUX_CONFIG = 'flux-config';
export const FLUX_SOURCE = 'flux-source';

/** Both stand for the project's configuration. */
const keys = (object: KubeObject, cluster: string) => [
  { cluster, namespace: object.metadata.namespace ?? '', name: FLUX_CONFIG },
];

/** What a function hears of that follows a project's configuration: every change of its content, never the Secret's. */
export const projectConfigSubscriptions: Subscription[] = [
  {
    in: 'garden',
    resource: resources.configMaps,
    fieldSelector: `metadata.name=${FLUX_CONFIG}`,
    wakes: ({ metadata, data }) => [metadata.uid, data],
    keys,
  },
  {
    in: 'garden',
    resource: resources.secrets,
    fieldSelector: `metadata.name=${FLUX_SOURCE}`,
    metadataOnly: true,
    wakes: ({ metadata }) => metadata.resourceVersion,
    keys,
  },
];
