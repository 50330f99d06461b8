import { isDeepStrictEqual } from 'node:util';
import { applyPatch, type Operation, Pointer } from 'rfc6902';
import type { KubeObject } from '../../kube/resource.ts';
import { quote } from '../quote.ts';
import { asObject } from '../values.ts';
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
    if (problem !== undefined) throw new PatchProblem(wrongOperation(index, problem));
    return entry as Operation;
  });
  if (operations.filter(({ op }) => op === 'copy').length > MOST_COPIES) {
    throw new PatchProblem(`has more than ${MOST_COPIES} operations copy; write the values`);
  }
  return operations;
}

export const wrongOperation = (index: number, problem: string) => `has a wrong operation ${index}: ${problem}`;

function operationProblem(operation: Record<string, unknown>): string | undefined {
  const { op, value } = operation;
  const malformed = formProblem(operation);
  if (malformed !== undefined) return malformed;
  for (const [name, pointer] of pathsOf(operation)) {
    const path = String(pointer);
    if (!path.startsWith('/')) return notPath(name);
    if (INHERITED.test(path)) return `${name} ${quote(path)} is not a field`;
    if (/\/-\d+(\/|$)/.test(path)) return `${name} counts from the end of a list; use - for its end`;
  }
  if (['add', 'replace', 'test'].includes(String(op)) && value === undefined) return 'value is missing';
  return undefined;
}

/** Returns why no kustomize can apply an operation. */
export function formProblem(operation: Record<string, unknown>): string | undefined {
  const { op } = operation;
  if (typeof op !== 'string' || !OPERATIONS.includes(op)) return `op must be one of ${OPERATIONS.join(', ')}`;
  const [wrong] = pathsOf(operation).find(([, path]) => typeof path !== 'string') ?? [];
  return wrong && notPath(wrong);
}

const pathsOf = ({ op, path, from }: Record<string, unknown>) =>
  Object.entries(op === 'copy' || op === 'move' ? { path, from } : { path });

const notPath = (name: string) => `${name} must be a path such as /spec/replicas`;

/** Applies a JSON 6902 patch to a copy of the object. @throws PatchProblem */
export function jsonPatched(object: KubeObject, operations: readonly Operation[]): KubeObject {
  // Unlike `structuredClone`, it does not keep what YAML aliases put into two places one object.
  const copy: KubeObject = JSON.parse(JSON.stringify(object));
  for (const [index, operation] of operations.entries()) {
    const problem = problemOf(copy, operation);
    if (problem === undefined) continue;
    throw new PatchProblem(
      `cannot be applied to ${object.kind} ${object.metadata.name}: operation ${index} (${operation.op}) fails, because ${problem}; correct the path`,
      true,
    );
  }
  return copy;
}

/** Applies an operation, or says why it fails. */
function problemOf(object: KubeObject, operation: Operation): string | undefined {
  const { parent, value } = Pointer.fromJSON(operation.path).evaluate(object);
  if (isBeyond(parent, operation)) return nothingAt(operation.path);
  // The package compares lists in quadratic time.
  if (operation.op === 'test') {
    const isSame = isDeepStrictEqual(value, operation.value);
    return isSame ? undefined : `another value is at ${quote(operation.path)}`;
  }
  // In kustomize, and unlike RFC 6902, `replace` of a field that does not exist adds it.
  const adds = operation.op === 'replace' && asObject(parent) !== undefined;
  const [error] = applyPatch(object, [adds ? { ...operation, op: 'add' } : operation]);
  // Of `copy` and `move`, it may be the path that they read.
  return error === null || error === undefined ? undefined : nothingAt('path' in error ? error.path : operation.path);
}

const nothingAt = (path: string) => `there is nothing at ${quote(path)}`;

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
