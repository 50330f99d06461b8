import { resources } from '../kube/resource.ts';
import { ownKey, type PolicyRule, rule, type Subscription } from '../runtime/definition.ts';
import { isOurs } from './gate.ts';
import { EXTENSION_TYPE, type Extension } from './types.ts';

/** The Extensions of our type, by which functions are woken that work on them. */
export const ourExtensions = {
  in: 'seed',
  resource: resources.extensions,
  matches: (object) => isOurs(object as Extension),
  keys: ownKey,
} satisfies Partial<Subscription>;

/** What `loadExtension` needs. */
export const readsExtension: PolicyRule[] = [
  rule(resources.clusters, ['get']),
  rule(resources.extensions, ['get'], EXTENSION_TYPE),
];

/** Needed to write the status. */
export const patchesStatus: PolicyRule = {
  ...rule(resources.extensions, ['patch'], EXTENSION_TYPE),
  resources: ['extensions/status'],
};
