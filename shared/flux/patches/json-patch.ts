import { applyPatch, type Operation, Pointer } from 'rfc6902';
import { quote } from '../../config/quote.ts';
import { asObject } from '../../config/values.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { PatchProblem } from './problem.ts';

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

/** Applies a JSON 6902 patch. The object is not modified. @throws PatchProblem */
export function jsonPatched(object: KubeObject, operations: readonly Operation[]): KubeObject {
  const copy = withOwnFields(object, operations);
  for (const [index, operation] of operations.entries()) {
    const [error] = isBeyond(copy, operation) ? [MISSING] : applyPatch(copy, [asKustomize(copy, operation)]);
    if (error === null || error === undefined) continue;
    const what = error.name === 'TestError' ? 'another value is at' : 'there is nothing at';
    throw new PatchProblem(
      `cannot be applied to ${object.kind} ${object.metadata.name}: operation ${index} (${operation.op}) fails, because ${what} ${quote(operation.path)}; correct the path`,
    );
  }
  return copy;
}

/** Copies the fields that operations name, and not the schemas of a CRD whose labels they change. */
function withOwnFields(object: KubeObject, operations: readonly Operation[]): KubeObject {
  const paths = operations.flatMap((operation) => [operation.path, ...('from' in operation ? [operation.from] : [])]);
  const named = new Set(paths.map((path) => Pointer.fromJSON(path).tokens[1]));
  const fields = Object.entries(object).map(([name, value]) => [
    name,
    named.has(name) ? structuredClone(value) : value,
  ]);
  return Object.fromEntries(fields) as unknown as KubeObject;
}

const MISSING = { name: 'MissingError' };

/** `replace` of a field that does not exist adds it, as in kustomize, and unlike RFC 6902. */
function asKustomize(object: KubeObject, operation: Operation): Operation {
  const own = structuredClone(operation);
  return own.op === 'replace' && asObject(parentOf(object, own.path)) !== undefined ? { ...own, op: 'add' } : own;
}

/**
 * True where a path leads into a value that holds no others, or beyond a list. The package checks the latter only for
 * `add`, and the former not at all. Only an operation that adds can name the end of a list.
 */
function isBeyond(object: KubeObject, { op, path }: Operation): boolean {
  const parent = parentOf(object, path);
  if (typeof parent !== 'object' || parent === null) return true;
  if (op === 'add' || !Array.isArray(parent)) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const adds = op === 'copy' || op === 'move';
  if (name === '-') return !adds;
  return !(/^\d+$/.test(name) && Number(name) < parent.length + (adds ? 1 : 0));
}

/** Returns the object or list that holds a path; undefined if there is none. */
function parentOf(object: KubeObject, path: string): unknown {
  return Pointer.fromJSON(path).parent().get(object);
}
