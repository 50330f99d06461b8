import type * as z from 'zod/mini';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { keyDocs, shapeOf } from '../../shared/config/schema.ts';

type Schema = z.core.$ZodType;

/** The documented keys of the schemas with those of the objects inside, each once. */
export function table(...schemas: Schema[]): string {
  return tableOf(schemas.flatMap((schema) => documented(schema).map((row) => line(row, false))));
}

/** The keys of a schema that another one does not have, in a table, and the names of the others. */
export function ownAndSharedKeys(schema: Schema, other: Schema): { own: string; shared: string[] } {
  const isShared = ({ path }: Row) => shapeOf(other)?.[path] !== undefined;
  const rows = documented(schema);
  const own = rows.filter((row) => !isShared(row)).map((row) => line(row, schema === fluxConfigSchema));
  return { own: tableOf(own), shared: rows.filter(isShared).map(({ path }) => path) };
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
  const cells = [doc?.description ?? '', doc?.default ?? needed, `\`${exampleOf(schema, onlyTexts)}\``];
  return `| \`${path}\` | ${cells.map(cell).join(' | ')} |`;
}

/** A text in a table of Markdown, where a bar ends the cell. */
export const cell = (text: string) => text.replaceAll('|', '\\|');

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
