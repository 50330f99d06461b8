import { FLUX_CONFIG, FLUX_PUSH } from '../../shared/config/project-config.ts';
import type { FunctionBasics } from '../../shared/runtime/definition.ts';

/** Takes the reports of Git hosts. */
export const definition: FunctionBasics = {
  name: 'push-webhook',
  description: 'Checks that a Git host of the project reports a push, and notes it on the Secret flux-push.',
  rights: {
    garden: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: [FLUX_CONFIG] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: [FLUX_PUSH] },
    ],
    seed: [],
  },
};
