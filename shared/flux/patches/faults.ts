import { MOST_ISSUES_OF_A_PART } from '../../config/limits.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { entriesAt, fieldsAt } from '../../shapes.ts';
import type { Customisation } from '../deployment.ts';
import { fieldProblems } from './fields.ts';
import { keysOf, type Part, partsToKeep } from './kept.ts';

/** What is wrong with the result of the patches, and which of them made it so. */
interface Fault {
  /** The index of the patch. */
  patch: number;
  message: string;
}

/** A fault of one object. */
interface Found {
  patch: number;
  object: KubeObject;
  /** @param of the objects that have it */
  message: (of: string) => string;
}

type Objects = ReadonlyMap<string, KubeObject>;

/**
 * Returns what the patches have made wrong: what options of the same configuration wrote and is gone, and values that an API
 * server refuses. Only the last result counts, because a patch may correct an earlier one.
 * @param stages the objects of the installation, and those after each patch
 */
export function faultsOf(stages: readonly (readonly KubeObject[])[], customisation: Customisation): Fault[] {
  const states = stages.map((objects) => new Map(objects.map((object) => [refOf(object), object])));
  const installed = states[0] ?? new Map<string, KubeObject>();
  const faults = [...installed.keys()].flatMap((ref) => {
    const [before, ...after] = states.map((state) => state.get(ref));
    if (before === undefined || after.at(-1) === before || after.at(-1) === undefined) return [];
    return [...losses(before, after, customisation), ...mistakes(before, after)];
  });
  return [...together(faults), ...policyFaults(states, customisation)].slice(0, MOST_ISSUES_OF_A_PART);
}

/** A patch of many objects has one sentence for what is wrong with all of them. */
function together(found: readonly Found[]): Fault[] {
  return [...Map.groupBy(found, ({ patch, message }) => `${patch} ${message('')}`).values()].flatMap((same) => {
    const [first, ...others] = same;
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${others.length} other object${others.length === 1 ? '' : 's'}`;
    return [{ patch: first.patch, message: first.message(nameOf(first.object) + more) }];
  });
}

const refOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

type Later = readonly (KubeObject | undefined)[];

/** Returns the first patch since which something is wrong. */
function blamed(after: Later, isRight: (object: KubeObject | undefined) => boolean): number {
  return after.findLastIndex(isRight) + 1;
}

/** Returns what an object has lost, in one sentence for each patch and each way to keep it. */
function losses(before: KubeObject, after: Later, { install }: Customisation): Found[] {
  const known = new Map(after.map((object) => [object, object && keysOf(object, install)]));
  const isKept = ({ key }: Part, object: KubeObject | undefined) => known.get(object)?.has(key) === true;
  const lost = partsToKeep(before, install).filter((part) => !isKept(part, after.at(-1)));
  const keys = new Set(lost.map(({ key }) => key));
  const outermost = lost.filter(({ within = '' }) => !keys.has(within));
  const blames = outermost.map((part) => {
    const patch = blamed(after, (object) => isKept(part, object));
    // An earlier patch may have moved it in its list.
    const now = partsToKeep(after[patch - 1] ?? before, install).find(({ key }) => key === part.key);
    return { ...part, ...now, patch };
  });
  return [...Map.groupBy(blames, ({ patch, remedy }) => `${patch} ${remedy}`).values()].map((parts) => {
    const [{ patch, remedy }] = parts as [(typeof parts)[0]];
    const what = new Intl.ListFormat('en').format(parts.map((part) => part.what));
    const message = (of: string) =>
      `removes ${what} from ${of}, which Flux or an option of this configuration needs; ${remedy}`;
    return { patch, object: before, message };
  });
}

const nameOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

/** Returns the values of an object that an API server refuses and the release does not have. */
function mistakes(before: KubeObject, after: Later): Found[] {
  const found = new Map<KubeObject | undefined, ReadonlySet<string>>();
  const problemsOf = (object: KubeObject | undefined) => {
    const problems =
      found.get(object) ?? new Set(object && fieldProblems(object).map(({ path, message }) => `${path} ${message}`));
    found.set(object, problems);
    return problems;
  };
  return [...problemsOf(after.at(-1))]
    .filter((problem) => !problemsOf(before).has(problem))
    .map((problem) => ({
      patch: blamed(after, (object) => !problemsOf(object).has(problem)),
      object: before,
      message: (of) => `is wrong for ${of}: ${problem}`,
    }));
}

/**
 * A Pod that any NetworkPolicy selects is reached only as the policies say. One of them lets the controllers reach each
 * other; without it and with the others, none could fetch an artifact.
 */
function policyFaults(states: readonly Objects[], { install, origins }: Customisation): Fault[] {
  const policiesOf = (state: Objects) => [...state.values()].filter(({ kind }) => kind === 'NetworkPolicy');
  const [before = [], ...after] = states.map(policiesOf);
  const left = after.at(-1) ?? before;
  const opening = before.find(opensNamespace);
  const fault = (message: string, isRight: (policies: KubeObject[]) => boolean) => [
    { patch: after.findLastIndex(isRight) + 1, message },
  ];
  // Who patches the policy itself may let in fewer Pods, or more.
  const isOpen = (policies: KubeObject[]) =>
    policies.some((policy) => opensNamespace(policy) || policy.metadata.name === opening?.metadata.name);
  if (opening !== undefined && left.length > 0 && !isOpen(left)) {
    const others = left.map(({ metadata }) => metadata.name).join(' and ');
    const cut = left.length === 1 ? 'cuts' : 'cut';
    const message = `deletes ${nameOf(opening)}, without which ${others} ${cut} the controllers off from each other; delete all with target { kind: NetworkPolicy }, or set networkPolicy to false`;
    return fault(message, isOpen);
  }
  const isAsked = install.networkPolicy && origins['flux.networkPolicy'] !== undefined;
  if (before.length === 0 || left.length > 0 || !isAsked) return [];
  const message = 'deletes every NetworkPolicy, for which networkPolicy asks; set networkPolicy to false instead';
  return fault(message, (policies) => policies.length > 0);
}

/** True for a policy that lets the Pods of its namespace in. */
function opensNamespace(policy: KubeObject): boolean {
  const peers = entriesAt(policy, 'spec', 'ingress').flatMap((rule) => entriesAt(rule, 'from'));
  return peers.some((peer) => Object.keys(fieldsAt(peer, 'podSelector') ?? { none: 0 }).length === 0);
}
