import { FLUX_CONFIG, FLUX_PUSH } from '../../shared/config/project-config.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionBasics, rule } from '../../shared/runtime/definition.ts';

/** Takes the reports of Git hosts. */
export const definition: FunctionBasics = {
  name: 'push-webhook',
  description: 'Checks that a Git host of the project reports a push, and notes it on the Secret flux-push.',
  rights: {
    garden: [rule(resources.configMaps, ['get'], FLUX_CONFIG), rule(resources.secrets, ['get', 'patch'], FLUX_PUSH)],
    seed: [],
  },
};
