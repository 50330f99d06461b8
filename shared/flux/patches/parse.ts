import type { Operation } from 'rfc6902';
import { limits, limitText } from '../../config/limits.ts';
import { quote } from '../../config/quote.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { errorMessage } from '../../errors.ts';
import { parseAllDocuments, quickly, repeatedKey } from '../../kube/parse-yaml.ts';
import { operationsOf } from './json-patch.ts';
import { PatchProblem } from './problem.ts';

/** A patch, parsed: a list is JSON 6902, objects are strategic merges. */
export type ParsedPatch = { operations: Operation[] } | { merges: JsonObject[] };

/** Parses the text of a patch, YAML or JSON. @throws PatchProblem */
export function parsePatch(text: string): ParsedPatch {
  const documents = documentsOf(text).filter((document) => document !== null);
  const [first, ...others] = documents;
  if (first === undefined) throw new PatchProblem('is empty; write an object, or a list of operations');
  if (Array.isArray(first)) {
    if (others.length > 0)
      throw new PatchProblem('has more than one document; use one entry for each list of operations');
    return { operations: operationsOf(first) };
  }
  return { merges: documents.map(mergeOf) };
}

function documentsOf(text: string): unknown[] {
  try {
    return [...parseAllDocuments(text, quickly)].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw error;
      const repeated = repeatedKey(document);
      if (repeated !== undefined) throw new PatchProblem(`has the key ${quote(repeated)} twice; remove one of them`);
      // Aliases may stand for more values than fit into memory; the parser refuses them.
      return document.toJS({ maxAliasCount: 20 });
    });
  } catch (error) {
    if (error instanceof PatchProblem) throw error;
    if (errorMessage(error).startsWith('Maximum call stack size')) {
      throw new PatchProblem('is nested too deeply; flatten it');
    }
    throw new PatchProblem(`is not YAML: ${errorMessage(error).split('\n')[0]?.replace(/[.:]$/, '')}; correct it`);
  }
}

function mergeOf(document: unknown): JsonObject {
  const object = asObject(document);
  if (object === undefined) throw new PatchProblem('is neither an object nor a list of operations; use one of these');
  const { kind, apiVersion } = object;
  const name = asObject(object.metadata)?.name;
  if (
    typeof kind !== 'string' ||
    typeof name !== 'string' ||
    (apiVersion !== undefined && typeof apiVersion !== 'string')
  ) {
    throw new PatchProblem('lacks kind or metadata.name; add them, with a target they may be any');
  }
  if (JSON.stringify(object).length > limits.patch.most * 4 * 1024) {
    throw new PatchProblem(`is longer than ${limitText(limits.patch)} without its aliases; use a shorter one`);
  }
  return object;
}
