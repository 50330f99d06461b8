import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import { ourExtensions, readsExtension } from '../../shared/gardener/extension-rights.ts';
import { HIBERNATED } from '../../shared/gardener/operation.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { resources } from '../../shared/kube/resource.ts';
import { type FunctionDefinition, rule } from '../../shared/runtime/definition.ts';
import { fluxState, newsOf, rolloutNews } from './flux-state.ts';

/** Shows project members how Flux is doing: in the ConfigMap `flux-status` of their project, and in Events on the Shoot. */
export const definition: FunctionDefinition = {
  name: 'project-status',
  description: "Reports a Shoot's state in the ConfigMap flux-status of its project, and in Events on the Shoot.",
  subscriptions: [
    {
      ...ourExtensions,
      // Until the first operation is reported, there is nothing to show.
      isNews: (object) => extensionOf(object).status?.lastOperation !== undefined,
      wakes: (object) => {
        const extension = extensionOf(object);
        const rollout = rolloutNews(extension);
        const state = fluxState(extension);
        const applied = extension.status?.state?.applied;
        return [
          newsOf(state),
          extension.status?.lastOperation?.description === HIBERNATED,
          // In any other state, it is shown with the next news.
          state.type === 'ready' && [applied?.fluxVersion, applied?.warnings?.[0]],
          ...(rollout === undefined ? [] : [rollout]),
        ];
      },
      // A step that is over sooner needs no run.
      mayWaitMs: 5_000,
    },
  ],
  // At rest this function costs nothing. Each start of the watcher compares everything.
  resync: false,
  // To the Shoots whose turn in a rollout is next.
  sends: true,
  rights: {
    garden: [
      // Created by an apply, which RBAC can restrict by name.
      rule(resources.configMaps, ['get', 'create', 'patch'], FLUX_STATUS),
      // Mostly metadata; RBAC cannot restrict a right to it.
      rule(resources.shoots, ['get']),
      // The names of Events are hashes.
      rule(resources.events, ['create']),
    ],
    seed: [...readsExtension],
  },
};
