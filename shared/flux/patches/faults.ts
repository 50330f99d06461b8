import { MOST_ISSUES_OF_A_PART } from '../../config/limits.ts';
import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { counted } from '../../runtime/safe-text.ts';
import { entriesAt, fieldsAt, textAt, textListOf } from '../../shapes.ts';
import type { Customisation } from '../deployment.ts';
import { fieldProblems } from './fields.ts';
import { LOCKDOWN, podOf } from './guard.ts';

/** What is wrong with a patch, or with what it has made. */
export interface Fault {
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
    const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other object')}`;
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

/** Something that an object of the installation has to keep, because options or Flux rely on it. */
interface Part {
  /** Identifies it in its object. */
  key: string;
  /** What a sentence calls it. */
  what: string;
  /** How a patch adds without removing it. */
  remedy: string;
  /** The key of the part that contains it. */
  within?: string;
  /** True: nothing is lost without it. */
  isFree?: boolean;
}

/** Returns the parts that a patch may give another value, and may not remove from an installed object. */
function partsToKeep(installed: KubeObject, install: FluxInstall): Part[] {
  return partsOf(installed, install).filter(({ isFree }) => isFree !== true);
}

/** Returns the keys of the parts that an object has. */
function keysOf(object: KubeObject, install: FluxInstall): ReadonlySet<string> {
  return new Set(partsOf(object, install).map(({ key }) => key));
}

function partsOf(object: KubeObject, install: FluxInstall): Part[] {
  return [...metadataParts(object, install), ...(partsOfKind[object.kind]?.(object, install) ?? [])];
}

function metadataParts({ metadata }: KubeObject, { commonMetadata }: FluxInstall): Part[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.keys(commonMetadata?.[field] ?? {})
      .filter((key) => metadata[field]?.[key] !== undefined)
      .map((key) =>
        part(`${field}/${key}`, `${field.slice(0, -1)} ${key}`, `/metadata/${field}/KEY`, 'commonMetadata'),
      ),
  );
}

/** @param option the option that writes it; absent: none alone */
function part(key: string, what: string, path: string, option?: string): Part {
  const remedy = `keep what is there, and add your own with op: add, path: ${path}${option === undefined ? '' : `, or change ${option}`}`;
  return { key, what, remedy };
}

const POD = '/spec/template/spec';

function podParts(deployment: KubeObject, install: FluxInstall): Part[] {
  const pod = podOf(deployment);
  const ofPod = (list: string, what: string, option?: string) => part(what, what, `${POD}/${list}`, option);
  const selected = Object.entries(fieldsAt(deployment, 'spec', 'selector', 'matchLabels') ?? {});
  const labels = fieldsAt(deployment, 'spec', 'template', 'metadata', 'labels') ?? {};
  const { nodeSelector = {}, priorityClass } = install;
  const keptNodes = Object.keys(fieldsAt(pod, 'nodeSelector') ?? {}).filter((key) => Object.hasOwn(nodeSelector, key));
  const isClaim = entriesAt(pod, 'volumes').some((volume) => Object.hasOwn(volume, 'persistentVolumeClaim'));
  return [
    ...entriesAt(pod, 'containers').flatMap((container, index) => containerParts(container, index, install)),
    ...selected
      .filter(([key, value]) => labels[key] === value)
      .map(([key]) => part(`selected ${key}`, `the label ${key} of its Pods`, '/spec/template/metadata/labels/KEY')),
    ...toleratedKeys(pod, install).map((key) => ofPod('tolerations/-', `the toleration of ${key}`, 'tolerationKeys')),
    ...keptNodes.map((key) => ofPod('nodeSelector/KEY', `the nodeSelector ${key}`, 'nodeSelector')),
    ...entriesAt(pod, 'imagePullSecrets').map(({ name }) => ofPod('imagePullSecrets/-', `the pull secret ${name}`)),
    ...(isClaim ? [ofPod('volumes/-', 'the volume with a PersistentVolumeClaim', 'storage')] : []),
    ...(priorityClass !== undefined && pod.priorityClassName !== undefined
      ? [{ key: 'priority', what: 'priorityClassName', remedy: 'give another value, or omit priorityClass' }]
      : []),
  ];
}

/** A toleration without a key tolerates all taints. */
function toleratedKeys(pod: object, { tolerationKeys }: FluxInstall): readonly string[] {
  const keys = entriesAt(pod, 'tolerations').map(({ key = '' }) => key);
  return keys.includes('') ? tolerationKeys : tolerationKeys.filter((key) => keys.includes(key));
}

/** Flags that say what the controllers do anyway; one replica needs no leader. */
const FREE = /^--(enable-leader-election(=true)?|watch-all-namespaces(=true)?|log-level=info|log-encoding=json)$/;

/** They only tell Go about limits. The port is for metrics. */
const FREE_NAMES: ReadonlySet<unknown> = new Set(['GOMEMLIMIT', 'GOMAXPROCS', 'http-prom']);

/** A longer flag, such as one with an address, is shown without its value. */
const MOST_SHOWN = 40;

function containerParts(container: Record<string, unknown>, index: number, { multiTenancy }: FluxInstall): Part[] {
  const { name, args } = container;
  const one = (list: string, what: string, id: unknown = what): Part => ({
    ...part(`${name} ${list} ${id}`, what, `${POD}/containers/${index}/${list}/-`),
    within: `container ${name}`,
    isFree: FREE.test(what) || FREE_NAMES.has(id),
  });
  const flags = flagsOf(textListOf(args));
  return [
    part(`container ${name}`, `the container ${name}`, `${POD}/containers/-`),
    ...flags.map((flag) => {
      const [name = flag] = FLAG_NAME.exec(flag) ?? [];
      return one('args', flag.length > MOST_SHOWN ? name : flag, name);
    }),
    ...(multiTenancy === true ? lockdownParts(flags, String(name)) : []),
    ...entriesAt(container, 'env').map(({ name: id }) => one('env', `the variable ${id}`, id)),
    ...entriesAt(container, 'volumeMounts').map(({ mountPath: id }) => one('volumeMounts', `the mount at ${id}`, id)),
    ...entriesAt(container, 'ports').map(({ name: id }) => one('ports', `the port ${id}`, id)),
  ];
}

/** Flags of the lockdown that have an option of their own. */
const accountOptions: Readonly<Record<string, string>> = {
  '--default-service-account': 'tenantDefaultServiceAccount',
  '--default-decryption-service-account': 'tenantDefaultDecryptionServiceAccount',
  '--default-kubeconfig-service-account': 'tenantDefaultKubeConfigServiceAccount',
};

/** Another value would lift the lockdown, and the last one wins. */
function lockdownParts(flags: readonly string[], container: string): Part[] {
  const last = new Map(flags.filter((flag) => LOCKDOWN.test(flag)).map((flag) => [flag.split('=', 1)[0], flag]));
  return [...last].map(([name = '', flag]) => ({
    key: `${container} args ${flag} at last`,
    what: flag,
    remedy: `keep its value, or ${accountOptions[name] === undefined ? 'set multiTenancy to false' : `change ${accountOptions[name]}`}`,
    within: `${container} args ${name}`,
  }));
}

const GATES = '--feature-gates=';
const FLAG_NAME = /^(--feature-gates=)?[^=]*/;

/** Returns the flags among arguments: behind `--` nothing is one. Each feature gate counts, because the flag adds up. */
function flagsOf(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).flatMap((arg) =>
    arg.startsWith(GATES)
      ? arg
          .slice(GATES.length)
          .split(',')
          .map((gate) => GATES + gate)
      : arg,
  );
}

/** What a Service selects, and its ports, by their names. */
function serviceParts(service: KubeObject): Part[] {
  const selector = Object.entries(fieldsAt(service, 'spec', 'selector') ?? {});
  return [
    ...selector.map(([key, value]) => part(`${key}=${value}`, `the selector ${key}=${value}`, '/spec/selector/KEY')),
    ...entriesAt(service, 'spec', 'ports').map((port) => {
      const name = textAt(port, 'name') ?? String(port.port);
      return part(`port ${name}`, `the port ${name}`, '/spec/ports/-');
    }),
  ];
}

/** Without a class, an API server takes its default. */
function claimParts(claim: KubeObject): Part[] {
  const { storageClassName, resources } = fieldsAt(claim, 'spec') ?? {};
  const fields = { class: storageClassName, size: fieldsAt(resources, 'requests')?.storage };
  return Object.entries(fields).flatMap(([field, value]) =>
    value === undefined
      ? []
      : [{ key: field, what: `the ${field} of the claim`, remedy: `keep that, or change storage.${field}` }],
  );
}

const partsOfKind: Record<string, (object: KubeObject, install: FluxInstall) => Part[]> = {
  Deployment: podParts,
  Service: serviceParts,
  PersistentVolumeClaim: claimParts,
};
