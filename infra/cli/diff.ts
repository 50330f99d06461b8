import { pathText } from '../../shared/config/schema.ts';
import { asObject, type JsonObject } from '../../shared/config/values.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

interface FieldChange {
  path: string;
  from?: unknown;
  to?: unknown;
}

interface ObjectChange {
  type: 'added' | 'removed' | 'changed';
  /** Kind, namespace and name, as in `Kustomization flux-system/main-ks`. */
  object: string;
  fields: FieldChange[];
}

/** Returns what differs between two sets of objects, in the order of the next one, removed objects last. */
export function diffObjects(former: readonly KubeObject[], next: readonly KubeObject[]): ObjectChange[] {
  const before = new Map(former.map((object) => [identityOf(object), object]));
  const changes = next.flatMap((object): ObjectChange[] => {
    const old = before.get(identityOf(object));
    if (old === undefined) return [{ type: 'added', object: nameOf(object), fields: [] }];
    const fields = fieldChanges(old, object, []).map(object.kind === 'Secret' ? hidden : (field) => field);
    return fields.length === 0 ? [] : [{ type: 'changed', object: nameOf(object), fields }];
  });
  const after = new Set(next.map(identityOf));
  const removed = former
    .filter((object) => !after.has(identityOf(object)))
    .map((object): ObjectChange => ({ type: 'removed', object: nameOf(object), fields: [] }));
  return [...changes, ...removed];
}

/** Another API version of a group is the same object. */
function identityOf({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return `${kind}.${group} ${metadata.namespace ?? ''}/${metadata.name}`;
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

/** The file to compare with may come from a cluster. */
function hidden({ path, from, to }: FieldChange): FieldChange {
  const hide = (value: unknown) => (value === undefined ? undefined : '(not shown)');
  return { path, from: hide(from), to: hide(to) };
}

type Path = readonly (string | number)[];

function fieldChanges(from: unknown, to: unknown, path: Path): FieldChange[] {
  const [before, after] = [keyed(from), keyed(to)];
  if (before !== undefined && after !== undefined) {
    const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
    const at = (object: JsonObject, field: string) => (Object.hasOwn(object, field) ? object[field] : undefined);
    return [...fields].flatMap((field) => fieldChanges(at(before, field), at(after, field), [...path, field]));
  }
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path: pathText(path), from, to }];
}

/** An object, or a list whose entries have names, such as containers: a new entry must not change all that follow. */
function keyed(value: unknown): JsonObject | undefined {
  if (!Array.isArray(value)) return asObject(value);
  const names = value.map((entry) => asObject(entry)?.name);
  const areNamed = names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
  return value.length > 0 && areNamed
    ? Object.fromEntries(value.map((entry, index) => [names[index], entry]))
    : undefined;
}

/** The objects that a delivery leaves in the shoot, because their deletion would delete others. */
const STAYS = /^(CustomResourceDefinition|Namespace) /;
const MOST_FIELDS = 30;
const LONGEST = 100;
const signs = { added: '+', removed: '-', changed: '~' } as const;

/** Formats changes for people. What another release changes in all objects hides what matters, so it is counted. */
export function diffText(changes: readonly ObjectChange[], total: number): string {
  const notable = changes.map((change) => ({ ...change, fields: change.fields.filter(isNotable) }));
  const isQuiet = ({ type, fields }: ObjectChange) => type === 'changed' && fields.length === 0;
  const quiet = notable.filter(isQuiet).length;
  const lines = notable
    .filter((change) => !isQuiet(change))
    .flatMap(({ type, object, fields }) => [
      `${signs[type]} ${object}${type === 'removed' && STAYS.test(object) ? ' (stays in the shoot)' : ''}`,
      ...fields.slice(0, MOST_FIELDS).flatMap(fieldLines),
      ...(fields.length > MOST_FIELDS ? [`    and ${fields.length - MOST_FIELDS} more fields`] : []),
    ]);
  const numberOf = (type: ObjectChange['type']) => changes.filter((change) => change.type === type).length;
  const equal = total - numberOf('added') - numberOf('changed');
  const only = quiet === 0 ? '' : ` (${quiet} only in labels of the release and in descriptions)`;
  const summary = `${numberOf('added')} added, ${numberOf('changed')} changed${only}, ${numberOf('removed')} removed, ${equal} equal`;
  return `${[...lines, summary].join('\n')}\n`;
}

/** Each release has its own version in the labels of all objects, and marks of the tool that wrote its CRDs. */
const MARKS =
  /^metadata\.(labels\.app\.kubernetes\.io\/version|annotations\.controller-gen\.kubebuilder\.io\/version)$/;
const VERSION = /^spec\.versions\.[^.]+$/;
const SCHEMA = /^spec\.versions\.([^.]+)\.schema\.openAPIV3Schema\./;

function isNotable({ path }: FieldChange): boolean {
  return !MARKS.test(path) && !(SCHEMA.test(path) && path.endsWith('.description'));
}

/** A field of a CRD by the path that users write: `v1 spec.provider.enum`. */
function readable(path: string): string {
  const [start, version] = SCHEMA.exec(path) ?? [];
  if (start === undefined) return path;
  return `${version} ${path
    .slice(start.length)
    .replaceAll(/(^|\.)(?:properties\.|items(?=\.))/g, (_, dot: string) => dot)
    .replaceAll('..', '.')}`;
}

function fieldLines({ path: full, from, to }: FieldChange): string[] {
  const path = readable(full);
  // The whole schema of a version.
  if (VERSION.test(full)) return [`    ${path}: ${from === undefined ? 'added' : 'removed'}`];
  if (Array.isArray(from) && Array.isArray(to)) return listLines(path, from, to);
  if (from === undefined) return [`    ${path}: added ${valueText(to)}`];
  if (to === undefined) return [`    ${path}: removed, was ${valueText(from)}`];
  return [`    ${path}: ${valueText(from)} -> ${valueText(to)}`];
}

/** Of a list, such as the arguments of a container, only the entries that differ. */
function listLines(path: string, from: unknown[], to: unknown[]): string[] {
  const texts = (list: unknown[]) => new Set(list.map((entry) => JSON.stringify(entry)));
  const [before, after] = [texts(from), texts(to)];
  const gone = from.filter((entry) => !after.has(JSON.stringify(entry)));
  const come = to.filter((entry) => !before.has(JSON.stringify(entry)));
  if (gone.length + come.length === 0) return [`    ${path}: in another order`];
  const changed = gone.flatMap((entry) => {
    const next = come.filter((other) => flagOf(other) === flagOf(entry) && flagOf(entry) !== undefined);
    return next.length === 1 ? [{ entry, next: next[0] }] : [];
  });
  const isChanged = (entry: unknown) => changed.some((pair) => pair.entry === entry || pair.next === entry);
  return [
    ...changed.map(({ entry, next }) => `    ${path}: ${valueText(entry)} -> ${valueText(next)}`),
    ...gone.filter((entry) => !isChanged(entry)).map((entry) => `    ${path}: without ${valueText(entry)}`),
    ...come.filter((entry) => !isChanged(entry)).map((entry) => `    ${path}: with ${valueText(entry)}`),
  ];
}

/** Returns the flag of an argument such as `--log-level=debug`. */
function flagOf(argument: unknown): string | undefined {
  return typeof argument === 'string' ? /^(--[\w-]+)=/.exec(argument)?.[1] : undefined;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}
