import { asObject, type JsonObject, withoutEmpty } from './values.ts';

/** Keys below which examples of the former extension of stackitcloud have the source -> its kind. */
const kinds: Readonly<Record<string, string>> = { gitRepository: 'GitRepository', ociRepository: 'OCIRepository' };

/**
 * Returns the source of a FluxConfig and its path: `source`, or `source.gitRepository` and `source.ociRepository`, as
 * examples of the former extension of stackitcloud write it, where the kind may be left out.
 */
export function writtenSource(value: unknown): { path: string; source: unknown } {
  const fields = asObject(withoutEmpty(value)) ?? {};
  const [key = '', ...others] = Object.keys(fields);
  const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  const inner = asObject(withoutEmpty(fields[key]));
  if (kind === undefined || inner === undefined || others.length > 0) return { path: 'source', source: value };
  return { path: `source.${key}`, source: withKind(inner, kind) };
}

function withKind(source: JsonObject, kind: string): JsonObject {
  const template = asObject(source.template);
  return template === undefined ? source : { ...source, template: { kind, ...template } };
}
