import { equal, isObject, type Json } from '../json.ts';

/** A JSON patch that cannot be applied to the object. */
export class JsonPatchError extends Error {}

/** Applies a JSON patch (RFC 6902). */
export function jsonPatch(target: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new JsonPatchError('a JSON patch is a list of operations');
  let document: Json = target;
  for (const operation of operations) {
    if (!isObject(operation)) throw new JsonPatchError('an operation is an object');
    document = applyOne(document, String(operation.op), String(operation.path), operation.value, operation.from);
  }
  return document;
}

function applyOne(document: Json, op: string, path: string, value: Json | undefined, from: Json | undefined): Json {
  const target = tokens(path);
  switch (op) {
    case 'add':
      return edit(document, target, path, (container, key) => insertAt(container, key, value ?? null, path));
    case 'replace':
      read(document, target, path);
      return edit(document, target, path, (container, key) => setAt(container, key, value ?? null));
    case 'remove':
      read(document, target, path);
      return edit(document, target, path, removeAt);
    case 'test':
      if (!equal(find(document, target) ?? null, value ?? null))
        throw new JsonPatchError(`testing value ${path} failed`);
      return document;
    case 'copy':
    case 'move': {
      const source = tokens(String(from));
      const moved = read(document, source, String(from));
      const rest = op === 'move' ? edit(document, source, String(from), removeAt) : document;
      return edit(rest, target, path, (container, key) => insertAt(container, key, moved, path));
    }
    default:
      throw new JsonPatchError(`Unexpected kind: ${op}`);
  }
}

function tokens(path: string): string[] {
  if (path === '') return [];
  if (!path.startsWith('/')) throw new JsonPatchError(`path ${path} does not start with /`);
  return path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function find(document: Json, path: readonly string[]): Json | undefined {
  let value: Json | undefined = document;
  for (const token of path) {
    if (Array.isArray(value)) value = value[Number(token)];
    else value = isObject(value) ? value[token] : undefined;
  }
  return value;
}

function read(document: Json, path: readonly string[], text: string): Json {
  const value = find(document, path);
  if (value === undefined) throw new JsonPatchError(`path ${text} does not exist`);
  return value;
}

type Container = Json[] | { [key: string]: Json | undefined };

/** Returns a copy of the document with an edit of the container of the path's last token. */
function edit(
  document: Json,
  path: readonly string[],
  text: string,
  change: (container: Container, key: string) => void,
): Json {
  const [first, ...rest] = path;
  if (first === undefined) {
    const holder = { document };
    change(holder, 'document');
    return holder.document ?? null;
  }
  if (!Array.isArray(document) && !isObject(document)) throw new JsonPatchError(`path ${text} does not exist`);
  const copy: Container = Array.isArray(document) ? [...document] : { ...document };
  if (rest.length === 0) change(copy, first);
  else {
    const child = Array.isArray(copy) ? copy[Number(first)] : copy[first];
    if (child === undefined) throw new JsonPatchError(`path ${text} does not exist`);
    setAt(copy, first, edit(child, rest, text, change));
  }
  return copy;
}

function setAt(container: Container, key: string, value: Json): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else container[key] = value;
}

function insertAt(container: Container, key: string, value: Json, path: string): void {
  if (!Array.isArray(container)) {
    container[key] = value;
    return;
  }
  const index = key === '-' ? container.length : Number(key);
  if (!Number.isInteger(index) || index < 0 || index > container.length) {
    throw new JsonPatchError(`index of ${path} is out of range`);
  }
  container.splice(index, 0, value);
}

function removeAt(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}
