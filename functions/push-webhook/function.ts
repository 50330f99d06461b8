import { FLUX_CONFIG, FLUX_PUSH } from '../../shared/config/project-config.ts';
import type { PushDefinition } from '../../shared/runtime/webhook.ts';

/** Takes the reports of Git hosts. */
export const definition: PushDefinition = {
  name: 'push-webhook',
  description: 'Checks that a push is reported by a Git host of the project, and notes it on the Secret flux-push.',
  pushPath: '/push/',
  rights: {
    garden: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [FLUX_CONFIG] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: [FLUX_PUSH] },
    ],
    seed: [],
  },
};
