import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { quote } from '../../config/quote.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { PatchProblem } from './parse.ts';

const OPERATIONS = ['add', 'remove', 'replace', 'move', 'copy', 'test'];

/** Each may double an object. */
const MOST_COPIES = 4;

/** Inherited fields, which no object of Kubernetes has. */
const INHERITED = /^\/(.*\/)?(__proto__|constructor|prototype)(\/|$)/;

/** Returns the operations of a JSON 6902 patch. @throws PatchProblem */
export function operationsOf(patch: readonly unknown[]): Operation[] {
  const operations = patch.map((entry, index) => {
    const problem = operationProblem(asObject(entry) ?? {});
    if (problem !== undefined) throw new PatchProblem(`has a wrong operation ${index}: ${problem}`);
    return entry as Operation;
  });
  if (operations.filter(({ op }) => op === 'copy').length > MOST_COPIES) {
    throw new PatchProblem(`has more than ${MOST_COPIES} operations copy; write the values`);
  }
  return operations;
}

function operationProblem({ op, path, from, value }: Record<string, unknown>): string | undefined {
  if (typeof op !== 'string' || !OPERATIONS.includes(op)) return `op must be one of ${OPERATIONS.join(', ')}`;
  const paths = op === 'copy' || op === 'move' ? { path, from } : { path };
  for (const [name, pointer] of Object.entries(paths)) {
    if (typeof pointer !== 'string' || !pointer.startsWith('/')) return `${name} must be a path such as /spec/replicas`;
    if (INHERITED.test(pointer)) return `${name} ${quote(pointer)} is not a field`;
    if (/\/-\d+(\/|$)/.test(pointer)) return `${name} counts from the end of a list; use - for its end`;
  }
  if (['add', 'replace', 'test'].includes(op) && value === undefined) return 'value is missing';
  return undefined;
}

/**
 * Applies a JSON 6902 patch. The object is not modified: what an operation changes is copied on the way to it, and all
 * the rest is shared, so that patches of labels copy no schema of a CRD.
 * @throws PatchProblem
 */
export function jsonPatched(object: KubeObject, operations: readonly Operation[]): KubeObject {
  const copy = { ...object };
  const copied = new Set<unknown>([copy]);
  for (const [index, operation] of operations.entries()) {
    const problem = problemOf(copy, operation, copied);
    if (problem === undefined) continue;
    throw new PatchProblem(
      `cannot be applied to ${object.kind} ${object.metadata.name}: operation ${index} (${operation.op}) fails, because ${problem}; correct the path`,
    );
  }
  return copy;
}

/** Applies an operation, or says why it fails. @param copied the objects and lists that may be modified */
function problemOf(object: KubeObject, operation: Operation, copied: Set<unknown>): string | undefined {
  const path = tokensOf(operation.path);
  const parent = valueAt(object, path, path.length - 1);
  if (isBeyond(parent, operation)) return nothingAt(operation.path);
  // The package compares lists in quadratic time.
  if (operation.op === 'test') {
    const isSame = isDeepStrictEqual(valueAt(object, path, path.length), operation.value);
    return isSame ? undefined : `another value is at ${quote(operation.path)}`;
  }
  if (operation.op === 'copy') {
    const from = tokensOf(operation.from);
    const value = valueAt(object, from, from.length);
    if (value === undefined) return nothingAt(operation.from);
    // It will be in two places, so nothing of it may be modified any more.
    copied.clear();
    copied.add(object);
    return changed(object, { op: 'add', path: operation.path, value }, path, copied);
  }
  if (operation.op === 'move') copyTo(object, tokensOf(operation.from), copied);
  return changed(object, asKustomize(parent, operation), path, copied);
}

function changed(
  object: KubeObject,
  operation: Operation,
  path: readonly string[],
  copied: Set<unknown>,
): string | undefined {
  copyTo(object, path, copied);
  const adds = operation.op === 'add' || operation.op === 'replace';
  const [error] = applyPatch(object, [adds ? { ...operation, value: PLACEHOLDER } : operation]);
  // Of `move`, it may be the path that it reads.
  if (error !== null && error !== undefined) return nothingAt('path' in error ? error.path : operation.path);
  if (adds) fillIn(valueAt(object, path, path.length - 1), path.at(-1) ?? '', operation.value);
  return undefined;
}

/**
 * Stands for a value, because the package copies what it adds: of 1 KB with aliases, in the Deployments of an installation,
 * it made 11 MB.
 */
const PLACEHOLDER = Symbol('value');

function fillIn(parent: unknown, name: string, value: unknown): void {
  if (Array.isArray(parent)) parent[parent.indexOf(PLACEHOLDER)] = value;
  else (parent as JsonObject)[name] = value;
}

const nothingAt = (path: string) => `there is nothing at ${quote(path)}`;

/** Copies the objects and lists above a path that are still shared. */
function copyTo(object: KubeObject, path: readonly string[], copied: Set<unknown>): void {
  let parent = object as unknown as JsonObject;
  for (const name of path.slice(0, -1)) {
    const value = Object.hasOwn(parent, name) ? parent[name] : undefined;
    if (typeof value !== 'object' || value === null) return;
    if (!copied.has(value)) {
      parent[name] = Array.isArray(value) ? [...value] : { ...value };
      copied.add(parent[name]);
    }
    parent = parent[name] as JsonObject;
  }
}

/** `replace` of a field that does not exist adds it, as in kustomize, and unlike RFC 6902. */
function asKustomize(parent: unknown, operation: Operation): Operation {
  return operation.op === 'replace' && asObject(parent) !== undefined ? { ...operation, op: 'add' } : operation;
}

/**
 * True where a path leads into a value that holds no others, or beyond a list. The package checks the latter only for
 * `add`, and the former not at all. Only an operation that adds can name the end of a list.
 */
function isBeyond(parent: unknown, { op, path }: Operation): boolean {
  if (typeof parent !== 'object' || parent === null) return true;
  if (op === 'add' || !Array.isArray(parent)) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const adds = op === 'copy' || op === 'move';
  if (name === '-') return !adds;
  return !(/^\d+$/.test(name) && Number(name) < parent.length + (adds ? 1 : 0));
}

function tokensOf(pointer: string): readonly string[] {
  return Pointer.fromJSON(pointer).tokens.slice(1);
}

/** Returns the value at the first tokens of a path, inherited fields included, as the package reads it. */
function valueAt(object: KubeObject, path: readonly string[], depth: number): unknown {
  let value: unknown = object;
  for (let level = 0; level < depth; level++) value = ((value || {}) as JsonObject)[path[level] ?? ''];
  return value;
}
