import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { entriesAt, fieldsAt, textAt, textListOf } from '../../shapes.ts';
import { LOCKDOWN, podOf } from './guard.ts';

/** Something that an object of the installation has to keep, because options or Flux rely on it. */
export interface Part {
  /** Identifies it in its object. */
  key: string;
  /** What a sentence calls it. */
  what: string;
  /** How a patch adds without removing it. */
  remedy: string;
  /** The key of the part that contains it. */
  within?: string;
}

interface Found extends Part {
  /** True: nothing is lost without it. */
  isFree?: boolean;
}

/** Returns the parts that a patch may give another value, and may not remove from an installed object. */
export function partsToKeep(installed: KubeObject, install: FluxInstall): Part[] {
  return partsOf(installed, install).filter(({ isFree }) => isFree !== true);
}

/** Returns the keys of the parts that an object has. */
export function keysOf(object: KubeObject, install: FluxInstall): ReadonlySet<string> {
  return new Set(partsOf(object, install).map(({ key }) => key));
}

function partsOf(object: KubeObject, install: FluxInstall): Found[] {
  return [...metadataParts(object, install), ...(partsOfKind[object.kind]?.(object, install) ?? [])];
}

function metadataParts({ metadata }: KubeObject, { commonMetadata }: FluxInstall): Found[] {
  return (['labels', 'annotations'] as const).flatMap((field) =>
    Object.keys(commonMetadata?.[field] ?? {})
      .filter((key) => metadata[field]?.[key] !== undefined)
      .map((key) =>
        part(`${field}/${key}`, `${field.slice(0, -1)} ${key}`, `/metadata/${field}/KEY`, 'commonMetadata'),
      ),
  );
}

/** @param option the option that writes it; absent: none alone */
function part(key: string, what: string, path: string, option?: string): Found {
  const remedy = `keep what is there, and add your own with op: add, path: ${path}${option === undefined ? '' : `, or change ${option}`}`;
  return { key, what, remedy };
}

const POD = '/spec/template/spec';

function podParts(deployment: KubeObject, install: FluxInstall): Found[] {
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

function containerParts(container: Record<string, unknown>, index: number, { multiTenancy }: FluxInstall): Found[] {
  const { name, args } = container;
  const one = (list: string, what: string, id: unknown = what): Found => ({
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

/** Another value would lift the lockdown, and the last one wins. */
function lockdownParts(flags: readonly string[], container: string): Found[] {
  const last = new Map(flags.filter((flag) => LOCKDOWN.test(flag)).map((flag) => [flag.split('=', 1)[0], flag]));
  return [...last].map(([name = '', flag]) => ({
    key: `${container} args ${flag} at last`,
    what: flag,
    remedy: `keep its value, or ${name.endsWith('-account') ? 'change tenantDefaultServiceAccount' : 'set multiTenancy to false'}`,
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
function serviceParts(service: KubeObject): Found[] {
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
function claimParts(claim: KubeObject): Found[] {
  const { storageClassName, resources } = fieldsAt(claim, 'spec') ?? {};
  const fields = { class: storageClassName, size: fieldsAt(resources, 'requests')?.storage };
  return Object.entries(fields).flatMap(([field, value]) =>
    value === undefined
      ? []
      : [{ key: field, what: `the ${field} of the claim`, remedy: `keep that, or change storage.${field}` }],
  );
}

const partsOfKind: Record<string, (object: KubeObject, install: FluxInstall) => Found[]> = {
  Deployment: podParts,
  Service: serviceParts,
  PersistentVolumeClaim: claimParts,
};
