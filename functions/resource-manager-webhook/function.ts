import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { EXTENSION_TYPE, RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { rule } from '../../shared/runtime/definition.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';

/** Lets a Shoot's resource-manager write to the namespaces of Flux, which are not among its target namespaces (rule 3). */
export const definition: WebhookDefinition = {
  name: 'resource-manager-webhook',
  description: "Adds the namespaces of Flux to the arguments of a Shoot's gardener-resource-manager.",
  webhook: {
    in: 'seed',
    type: 'Mutating',
    path: '/resource-manager',
    resource: resources.deployments,
    operations: ['CREATE', 'UPDATE'],
    // A Shoot without Flux is better than one without a resource-manager.
    failurePolicy: 'Ignore',
    namespaceSelector: { matchLabels: { [`extensions.gardener.cloud/${EXTENSION_TYPE}`]: 'true' } },
    matchConditions: { 'resource-manager': `object.metadata.name == '${RESOURCE_MANAGER}'` },
  },
  rights: {
    garden: [rule(resources.configMaps, ['get'], FLUX_CONFIG)],
    seed: [rule(resources.clusters, ['get'])],
  },
};
