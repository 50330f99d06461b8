import type { Operation } from 'rfc6902';
import { LineCounter, parseAllDocuments } from 'yaml';
import { limits, limitText } from '../../config/limits.ts';
import type { Patch, PatchTarget } from '../../config/types.ts';
import { asObject, type JsonObject } from '../../config/values.ts';
import { keyProblem } from '../../config/yaml-text.ts';
import { errorMessage } from '../../errors.ts';
import { isJson, NOT_JSON, quickly } from '../../kube/parse-yaml.ts';
import { operationsOf } from './json-patch.ts';

/** Why a patch cannot be applied: the sentence behind its path. */
export class PatchProblem extends Error {
  override name = 'PatchProblem';
}

/** A patch, parsed. */
type ParsedPatch =
  | { target: PatchTarget; operations: Operation[] }
  | { target: PatchTarget; merge: JsonObject }
  /** Strategic merges that name their objects. */
  | { merges: JsonObject[] };

/** Parses a patch: a list is JSON 6902, objects are strategic merges. @throws PatchProblem */
export function parsePatch({ patch, target }: Patch): ParsedPatch {
  const [first, ...others] = documentsOf(patch).filter((document) => document !== null);
  if (first === undefined) throw new PatchProblem('is empty; write an object, or a list of operations');
  if (Array.isArray(first)) {
    if (others.length > 0) {
      throw new PatchProblem('has more than one document; use one entry for each list of operations');
    }
    const operations = operationsOf(first);
    if (target === undefined) throw new PatchProblem('is a list of operations without a target; add a target');
    return { target, operations };
  }
  const merge = mergeOf(first);
  const merges = [merge, ...others.map(mergeOf)];
  if (target === undefined) return { merges };
  if (others.length === 0) return { target, merge };
  throw new PatchProblem('has several documents and a target; use one entry for each, or remove the target');
}

function documentsOf(text: string): unknown[] {
  try {
    const lineCounter = new LineCounter();
    // Without pictures of all mistakes, of which one is shown.
    const options = { ...quickly, prettyErrors: false, lineCounter };
    return [...parseAllDocuments(text, options)].map((document) => {
      const [error] = document.errors;
      if (error !== undefined) {
        const { line, col } = lineCounter.linePos(error.pos[0]);
        throw notYaml(`${error.message} at line ${line}, column ${col}`);
      }
      const wrongKey = keyProblem(document);
      if (wrongKey !== undefined) throw new PatchProblem(wrongKey);
      // Aliases may stand for more values than fit into memory; the parser refuses them.
      const value: unknown = document.toJS({ maxAliasCount: 20 });
      if (!isJson(value)) throw new PatchProblem(NOT_JSON);
      return value;
    });
  } catch (error) {
    if (error instanceof PatchProblem) throw error;
    throw notYaml(errorMessage(error));
  }
}

function notYaml(mistake: string): PatchProblem {
  if (mistake.startsWith('Maximum call stack size')) return new PatchProblem('is nested too deeply; flatten it');
  return new PatchProblem(`is not YAML: ${mistake.split('\n')[0]?.replace(/[.:]$/, '')}; correct it`);
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
