import type { KubeObject } from '../../shared/kube/resource.ts';
import { fieldsOf, shapedConditions, textAt } from '../../shared/shapes.ts';

/** More than we write into a spec, or a controller into labels. */
const MOST_CHARACTERS = 128 * 1024;

/** Kinds of Flux and Deployments have a handful. */
const MOST_CONDITIONS = 50;
const LONGEST_TEXT = 5000;

/**
 * Returns what an assessment reads of an object. The objects of a look are kept until all are read, and the API of a shoot
 * may answer with 3 MiB for each of a hundred; a Kustomization also has an inventory, which may be as large.
 */
export function essentials<T extends KubeObject>(object: T): T {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, generation, deletionTimestamp, labels } = metadata;
  const status = fieldsOf(object.status);
  const artifact = textAt(status, 'artifact', 'revision');
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, generation, deletionTimestamp: deletionTimestamp && cut(deletionTimestamp) },
      ...(labels && isShort(labels) && { labels }),
    },
    spec: specOf(fieldsOf(object.spec)),
    ...(status && {
      status: {
        ...short(status),
        ...(artifact !== undefined && { artifact: { revision: cut(artifact) } }),
        conditions: shapedConditions(status.conditions).slice(0, MOST_CONDITIONS).map(short),
      },
    }),
  } as unknown as T;
}

function specOf(spec: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  return spec === undefined || isShort(spec) ? spec : short(spec);
}

/** Returns numbers, flags and the begin of texts of an object, and its first ones only. */
function short(fields: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  let count = 0;
  for (const key in fields) {
    if (++count > MOST_CONDITIONS) break;
    const value: unknown = fields[key as keyof typeof fields];
    if (typeof value === 'string') kept[key] = cut(value);
    else if (typeof value === 'number' || typeof value === 'boolean') kept[key] = value;
  }
  return kept;
}

/** A part of a text keeps the whole of it in memory, so a long one is copied. */
function cut(text: string): string {
  return text.length > LONGEST_TEXT ? Buffer.from(text.slice(0, LONGEST_TEXT)).toString() : text;
}

/** Counts until there is too much. Not by calls of itself: fields may be nested until the stack ends. */
function isShort(value: unknown): boolean {
  const rest: unknown[] = [value];
  let characters = 0;
  while (rest.length > 0 && characters + rest.length < MOST_CHARACTERS) {
    const one = rest.pop();
    characters += typeof one === 'string' ? one.length : 8;
    if (typeof one !== 'object' || one === null) continue;
    for (const key in one) {
      characters += key.length;
      rest.push(one[key as keyof typeof one]);
      if (rest.length > MOST_CHARACTERS) return false;
    }
  }
  return characters < MOST_CHARACTERS && rest.length === 0;
}
