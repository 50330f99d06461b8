import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Origins } from '../origins.ts';
import type { Place } from '../place.ts';
import type { Policy } from '../policy/policy.ts';
import type { CopiedSecret } from '../types.ts';
import { asObject } from '../values.ts';
import type { ListedProblems } from './check.ts';
import type { Listed, ListedInputs } from './merge.ts';
import type { ReadTemplates } from './read-objects.ts';
import type { SecretUse } from './secret-uses.ts';

/** What lists of objects need beyond other configurations; the functions are described where they are. */
export interface ListedRules {
  readObjects(value: unknown, place: Place): ReadTemplates;
  mergeListed(inputs: ListedInputs): Listed;
  listedProblems(inputs: ListedInputs, listed: Listed, copies: readonly CopiedSecret[]): ListedProblems;
  objectIssues(
    policy: Policy,
    objects: readonly KubeObject[],
    root: KubeObject | undefined,
    origins: Origins,
  ): ConfigIssue[];
  secretUses(object: KubeObject): SecretUse[];
}

/** The code for lists of objects. Few Shoots have lists, so functions load it on demand. */
let loaded: ListedRules | undefined;

/** Makes the code available; `all.ts` calls it. */
export function provideListedRules(rules: ListedRules): void {
  loaded = rules;
}

/** Returns the code for lists, which was loaded when the inputs were read. */
export function listedRules(): ListedRules {
  if (loaded === undefined) throw new Error('A configuration with lists was read before loadListedRules was called.');
  return loaded;
}

/** Returns true if the code for lists can be used at once. */
export function areListedRulesLoaded(): boolean {
  return loaded !== undefined;
}

/** The keys of a FluxConfig that hold lists of objects. */
export const lists = ['sources', 'kustomizations', 'objects'];

/** Returns true for a key of a FluxConfig that holds a list of objects. */
export function isList(key: string): boolean {
  return lists.includes(key);
}

/** Returns true for a FluxConfig with lists. */
export function hasLists(fluxConfig: unknown): boolean {
  const fields = asObject(fluxConfig) ?? {};
  return lists.some((list) => Object.hasOwn(fields, list));
}
