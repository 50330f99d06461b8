import type { Operation } from 'rfc6902';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml';
import { errorMessage } from '../../errors.ts';
import { isJson, NOT_JSON, quickly } from '../../kube/parse-yaml.ts';
import { parsedJson } from '../../shapes.ts';
import { limits, limitText } from '../limits.ts';
import type { Patch, PatchTarget } from '../types.ts';
import { asObject, type JsonObject } from '../values.ts';
import { keyProblem } from '../yaml-text.ts';
import { formProblem, operationsOf, wrongOperation } from './json-patch.ts';

/** Why a patch cannot be applied: the sentence behind its path. */
export class PatchProblem extends Error {
  override name = 'PatchProblem';
  /** True: another state of the object would have taken the patch. */
  readonly isOfState: boolean;

  constructor(message: string, isOfState = false) {
    super(message);
    this.isOfState = isOfState;
  }
}

const UNNAMED = 'lacks kind or metadata.name; add them (with a target, any values will do)';
const NO_TARGET = 'is a list of operations without a target; add a target';

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
    if (target === undefined) throw new PatchProblem(NO_TARGET);
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
    return parsedDocuments(text).map((document) => {
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

/** @throws PatchProblem for the first mistake */
function parsedDocuments(text: string): Document.Parsed<ParsedNode>[] {
  const lineCounter = new LineCounter();
  // Without pictures of all mistakes, of which one is shown.
  const documents = [...parseAllDocuments(text, { ...quickly, prettyErrors: false, lineCounter })];
  const [error] = documents.flatMap(({ errors }) => errors);
  if (error === undefined) return documents as Document.Parsed<ParsedNode>[];
  const { line, col } = lineCounter.linePos(error.pos[0]);
  throw notYaml(`${error.message} at line ${line}, column ${col}`);
}

/** Returns why no kustomize can read or apply a patch. It accepts more than patches of the installation may have. */
export function textProblem(text: string, hasTarget: boolean): string | undefined {
  if (text === '') return 'is empty; write an object, or a list of operations';
  try {
    const contents = parsedDocuments(text).map((document) => document.contents);
    if (contents.some(isSeq)) return listProblem(text) ?? (hasTarget ? contents.flatMap(nodeProblem)[0] : NO_TARGET);
    return contents.flatMap(nodeProblem)[0];
  } catch (error) {
    return error instanceof PatchProblem ? error.message : notYaml(errorMessage(error)).message;
  }
}

/** kustomize takes the first character for the beginning of JSON. */
function listProblem(text: string): string | undefined {
  if (!text.trimStart().startsWith('[') || parsedJson(text) !== undefined) return undefined;
  return 'begins with [ but is not JSON, so kustomize cannot read it; begin each operation with "- op:"';
}

function nodeProblem(node: unknown): string[] {
  if (isSeq(node)) return node.items.flatMap(nodeOperationProblem);
  if (isScalar(node) && node.value !== null) return ['is neither an object nor a list of operations; use one of these'];
  if (!isMap(node) || isOpen(node) || isAlias(node.get('metadata'))) return [];
  const [kind, name] = [node.get('kind'), node.getIn(['metadata', 'name'])];
  return kind === undefined || (name === undefined && !String(kind).endsWith('List')) ? [UNNAMED] : [];
}

function nodeOperationProblem(node: unknown, index: number): string[] {
  if (isOpen(node)) return [];
  const fields = ['op', 'path', 'from'].map((name) => [name, isMap(node) ? node.get(name) : undefined]);
  const problem = formProblem(Object.fromEntries(fields));
  return problem === undefined ? [] : [wrongOperation(index, problem)];
}

/** True: it may have fields that are written elsewhere. */
const isOpen = (node: unknown) => isAlias(node) || (isMap(node) && node.has('<<'));

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
    throw new PatchProblem(UNNAMED);
  }
  if (JSON.stringify(object).length > limits.patch.most * 4 * 1024) {
    throw new PatchProblem(`is longer than ${limitText(limits.patch)} without its aliases; use a shorter one`);
  }
  return object;
}
