import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';

/** Validates the providerConfig of a Shoot when it is written. */
export const definition: WebhookDefinition = {
  name: 'admission',
  description: 'Rejects Shoots with an invalid providerConfig, with one sentence per error.',
  webhook: {
    in: 'garden',
    type: 'Validating',
    path: '/admission',
    resource: resources.shoots,
    operations: ['CREATE', 'UPDATE'],
    failurePolicy: 'Fail',
    // Gardener maintains this label; the selector also matches the old object (rule 6.1).
    objectSelector: { matchLabels: { [`extensions.extensions.gardener.cloud/${EXTENSION_TYPE}`]: 'true' } },
    // A Shoot that is being deleted is always allowed, and must not depend on this webhook, which may be gone before it.
    matchConditions: { 'not-deleted': '!has(object.metadata.deletionTimestamp)' },
  },
  rights: { garden: [], seed: [] },
};
