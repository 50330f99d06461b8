import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInResources } from '../built-in-resources.ts';

/**
 * Generates `built-in-schemas.jsonl` from the OpenAPI v3 files of a Kubernetes source tree (`api/openapi-spec/v3`): the
 * schemas of the built-in types that the embedded API serves, without descriptions.
 *
 *     node test/landscape/kube-api/tools/built-in-schemas.ts <kubernetes>/api/openapi-spec/v3
 */
type Node = { [key: string]: unknown };

const kept = new Set([
  'type',
  'format',
  'required',
  'properties',
  'items',
  'additionalProperties',
  'enum',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
]);

const short = (reference: string) => reference.replace('#/components/schemas/', '').replace(/^io\.k8s\./, '');

const isObject = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function compact(node: Node): Node {
  if (typeof node.$ref === 'string') return { $ref: short(node.$ref) };
  const [only] = Array.isArray(node.allOf) ? node.allOf : [];
  // Field-level list and map types stand beside the reference.
  if (isObject(only)) return { ...own({ ...node, allOf: undefined, type: undefined }), ...compact(only) };
  return own(node);
}

function own(node: Node): Node {
  const result: Node = {};
  for (const [key, value] of Object.entries(node)) {
    if (value === undefined) continue;
    // The default of a key decides which item of a list is meant, for example a port's protocol.
    if (key === 'default' && typeof value === 'string' && value !== '') result[key] = value;
    if (!kept.has(key)) continue;
    if (key === 'properties' && isObject(value)) {
      result[key] = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, compact(child as Node)]));
    } else if ((key === 'items' || key === 'additionalProperties') && isObject(value)) result[key] = compact(value);
    else result[key] = value;
  }
  return result;
}

const references = (node: Node) =>
  [...JSON.stringify(node).matchAll(/"\$ref":"([^"]+)"/g)].map(([, name]) => name ?? '');

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Usage: built-in-schemas.ts <kubernetes>/api/openapi-spec/v3');

const all = new Map<string, Node>();
const kinds: Record<string, string> = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith('_openapi.json'))) {
  const { components } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  for (const [name, schema] of Object.entries<Node>(components?.schemas ?? {})) {
    all.set(short(name), compact(schema));
    const names = (schema['x-kubernetes-group-version-kind'] ?? []) as {
      group: string;
      version: string;
      kind: string;
    }[];
    if (names.length === 1 && names[0] !== undefined) {
      kinds[`${names[0].group}/${names[0].version}/${names[0].kind}`] = short(name);
    }
  }
}

const schemas: Record<string, Node> = {};
const used: Record<string, string> = {};
const queue: string[] = ['apimachinery.pkg.apis.meta.v1.ObjectMeta'];
for (const { group, version, kind } of builtInResources) {
  const id = `${group}/${version}/${kind}`;
  const name = kinds[id];
  if (name === undefined) throw new Error(`No schema for ${id}`);
  used[id] = name;
  queue.push(name);
}
for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
  if (schemas[name] !== undefined) continue;
  const schema = all.get(name);
  if (schema === undefined) throw new Error(`No schema ${name}`);
  schemas[name] = schema;
  queue.push(...references(schema));
}
const sorted = Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)));
// One line per type: the diff for a newer Kubernetes shows its changes.
const lines = [used, ...Object.entries(sorted)].map((line) => JSON.stringify(line));
writeFileSync(join(import.meta.dirname, '..', 'built-in-schemas.jsonl'), `${lines.join('\n')}\n`);
