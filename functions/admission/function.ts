import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';

/** Tells whoever writes a Shoot at once what is wrong with its providerConfig. */
export const definition: WebhookDefinition = {
  name: 'admission',
  description: 'Refuses Shoots whose providerConfig is wrong, with one sentence for everything that is.',
  webhook: {
    in: 'garden',
    type: 'Validating',
    path: '/admission',
    resource: resources.shoots,
    operations: ['CREATE', 'UPDATE'],
    failurePolicy: 'Fail',
    // Gardener keeps this label; it counts on the old object too (facts/gardener.md 6).
    objectSelector: { matchLabels: { [`extensions.extensions.gardener.cloud/${EXTENSION_TYPE}`]: 'true' } },
    // A Shoot on its way out is never refused, so it must not wait for us either, who may be gone before it.
    matchConditions: { 'not-deleted': '!has(object.metadata.deletionTimestamp)' },
  },
  rights: { garden: [], seed: [] },
};
