import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { FLUX_CONFIG, FLUX_SOURCE } from './names.ts';

/** A project's configuration: the ConfigMap itself, or the Secret beside it. */
const keys = (object: KubeObject, cluster: string) => [
  { cluster, namespace: object.metadata.namespace ?? '', name: FLUX_CONFIG },
];

/** Makes the key pair of a project's private repository and tells people about it. */
export const definition: FunctionDefinition = {
  name: 'keys',
  description: "Makes the key pair and the known_hosts of a project's private repository.",
  subscriptions: [
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
  ],
  resync: true,
  sends: false,
  rights: {
    garden: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [FLUX_CONFIG] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: [FLUX_SOURCE] },
      // RBAC cannot name what does not exist yet.
      { apiGroups: [''], resources: ['secrets', 'events'], verbs: ['create'] },
      { apiGroups: [''], resources: ['events'], verbs: ['get'] },
    ],
    seed: [],
  },
};
