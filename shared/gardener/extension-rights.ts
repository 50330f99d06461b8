import { resources } from '../kube/resource.ts';
import { ownKey, type PolicyRule, type Subscription } from '../runtime/definition.ts';
import { isOurs } from './gate.ts';
import { EXTENSION_TYPE, type Extension } from './types.ts';

/** The Extensions of our type, by which functions are woken that work on them. */
export const ourExtensions = {
  in: 'seed',
  resource: resources.extensions,
  matches: (object) => isOurs(object as Extension),
  keys: ownKey,
} satisfies Partial<Subscription>;

const group = { apiGroups: ['extensions.gardener.cloud'] };

/** What `loadExtension` needs. */
export const readsExtension: PolicyRule[] = [
  { ...group, resources: ['clusters'], verbs: ['get'] },
  { ...group, resources: ['extensions'], verbs: ['get'], resourceNames: [EXTENSION_TYPE] },
];

/** Needed to write the status. */
export const patchesStatus: PolicyRule = {
  ...{ ...group, resources: ['extensions/status'], verbs: ['patch'], resourceNames: [EXTENSION_TYPE] },
};
