import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** A project's configuration: the ConfigMap itself, or the Secret beside it. */
const keys = (object: KubeObject, cluster: string) => [
  { cluster, namespace: object.metadata.namespace ?? '', name: 'flux-config' },
];

/** Carries a change of a project's configuration to the Extensions of its Shoots. */
export const definition: FunctionDefinition = {
  name: 'fan-out',
  description: 'Sends one change for every Shoot of a project whose configuration or credentials changed.',
  subscriptions: [
    {
      in: 'garden',
      resource: resources.configMaps,
      fieldSelector: 'metadata.name=flux-config',
      wakes: ({ metadata, data }) => [metadata.uid, data],
      keys,
    },
    {
      in: 'garden',
      resource: resources.secrets,
      fieldSelector: 'metadata.name=flux-source',
      metadataOnly: true,
      wakes: ({ metadata }) => metadata.resourceVersion,
      keys,
    },
  ],
  resync: true,
  sends: true,
  rights: {
    garden: [{ apiGroups: ['core.gardener.cloud'], resources: ['shoots'], verbs: ['list'] }],
    seed: [],
  },
};
