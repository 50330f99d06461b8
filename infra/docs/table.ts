import type * as z from 'zod/mini';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { keyDocs, shapeOf } from '../../shared/config/schema.ts';

type Schema = z.core.$ZodType;

/** The documented keys of the schemas with those of the objects inside, each once. */
export function table(...schemas: Schema[]): string {
  return tableOf(schemas.flatMap((schema) => documented(schema).map((row) => line(row, schema === fluxConfigSchema))));
}

/** The keys of `flux-config` that no option of Flux has, in a table, and the names of the others. */
export function ownAndSharedKeys(options: Schema): { own: string; shared: string[] } {
  const shared = documented(fluxConfigSchema).filter(({ path }) => shapeOf(options)?.[path] !== undefined);
  const own = documented(fluxConfigSchema).filter((row) => !shared.some(({ path }) => path === row.path));
  return { own: tableOf(own.map((row) => line(row, true))), shared: shared.map(({ path }) => path) };
}

function tableOf(lines: string[]): string {
  return ['| key | meaning | default | example |', '|---|---|---|---|', ...new Set(lines), ''].join('\n');
}

export interface Row {
  path: string;
  schema: Schema;
}

/** Returns the documented keys of a schema with those of the objects inside, by their path. */
export function documented(schema: Schema, prefix = ''): Row[] {
  return Object.entries(shapeOf(schema) ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const own = keyDocs.has(field) ? [{ path, schema: field }] : [];
    return [...own, ...documented(field, `${path}.`)];
  });
}

function line({ path, schema }: Row, onlyTexts: boolean): string {
  const doc = keyDocs.get(schema);
  const needed = schema._zod.def.type === 'optional' ? '' : '**required**';
  return `| \`${path}\` | ${doc?.description} | ${doc?.default ?? needed} | \`${exampleOf(schema, onlyTexts)}\` |`;
}

/** A key's example as YAML takes it. @param onlyTexts in a ConfigMap every value has to be a text */
export function exampleOf(schema: Schema, onlyTexts: boolean): string {
  const example = keyDocs.get(schema)?.example ?? '';
  if (isList(schema)) return `[${example}]`;
  const isOther = /^(true|false|[0-9.]+)$|^[[{]|: \{/.test(example);
  return (onlyTexts && isOther) || /^[>&*!|%@`]/.test(example) ? JSON.stringify(example) : example;
}

function isList(schema: Schema): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return def.type === 'optional' ? isList(def.innerType) : def.type === 'array';
}
