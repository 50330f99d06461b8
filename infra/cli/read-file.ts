import { readFile, stat } from 'node:fs/promises';
import { type Document, isScalar, parseAllDocuments } from 'yaml';
import { asObject, asString } from '../../shared/config/values.ts';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { asInManifests, isJson, NOT_JSON } from '../../shared/kube/parse-yaml.ts';
import type { Terminal } from './option.ts';

/** Parser error codes with a better description than "neither YAML nor JSON". */
const mistakes: Record<string, string> = {
  TAB_AS_INDENT: 'is indented with a tab',
  DUPLICATE_KEY: 'repeats a key',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
};

/** What is left of UTF-16, which `>` of Windows PowerShell writes: its YAML would be a text without objects. */
const NOT_UTF_8 = /[\0\uFFFD]/;

/** Of one request to an API server; anything larger cannot be applied either. */
const MOST_MIB = 3;

/**
 * Reads one YAML or JSON document from a file, or from standard input for `-`. Ignores empty documents beside it.
 * @throws ShootFluxError when it cannot be read; the message never quotes the content, which may be a Secret
 */
export async function readDocument(path: string, terminal: Terminal): Promise<unknown> {
  const values = await readDocuments(path, terminal);
  if (values.length > 1) throw new ShootFluxError(`${path} holds ${values.length} documents; keep only one.`);
  return values[0] ?? null;
}

/** Reads all documents, without empty ones. @throws ShootFluxError like `readDocument` */
export async function readDocuments(path: string, terminal: Terminal): Promise<unknown[]> {
  const content = path === '-' ? await terminal.stdin() : await readText(path);
  // Standard input, or a pipe.
  if (content.length > MOST_MIB * 1024 * 1024) throw tooLarge(path);
  if (NOT_UTF_8.test(content)) throw new ShootFluxError(`${path} is not text in UTF-8; save it in this encoding.`);
  const documents = parse(path, content);
  return documents.map((document) => plainValue(path, () => document.toJS())).filter((value) => value !== null);
}

function parse(path: string, content: string): Document[] {
  // Merge keys are YAML 1.1, but kubectl reads them. The parser's warnings would quote the content.
  const options = { ...asInManifests, prettyErrors: false, merge: true, logLevel: 'error', uniqueKeys } as const;
  const documents = [...parseAllDocuments(content, options)];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong === undefined) return documents;
  const line = content.slice(0, wrong.pos[0]).split('\n').length;
  const what = mistakes[wrong.code] ?? `is neither YAML nor JSON (${wrong.code})`;
  throw new ShootFluxError(`${path}: line ${line} ${what}; correct the file.`);
}

/** An object may have several merge keys. */
function uniqueKeys(one: unknown, other: unknown): boolean {
  return isScalar(one) && isScalar(other) && one.value === other.value && one.value !== '<<';
}

/** Returns the objects of a document: itself, or the items of a List, as kubectl prints several. */
export function itemsOf(document: unknown): unknown[] {
  const { kind, items } = asObject(document) ?? {};
  return asString(kind)?.endsWith('List') === true && Array.isArray(items) ? items : [document];
}

/** Reads a value that JSON can express: no dangling or circular aliases, no tags for other types. */
function plainValue(path: string, read: () => unknown): unknown {
  try {
    const value = read();
    if (isJson(value)) return value;
  } catch (error) {
    // The parser throws this for an alias without an anchor, or for too many aliases.
    if (!(error instanceof ReferenceError)) throw error;
  }
  throw new ShootFluxError(`${path} ${NOT_JSON}.`);
}

async function readText(path: string): Promise<string> {
  try {
    const bytes = await readUpTo(path, MOST_MIB);
    if (bytes === undefined) throw tooLarge(path);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof ShootFluxError) throw error;
    throw new ShootFluxError(`cannot read ${path}: ${fileProblem(error)}; name a file, or - for standard input.`);
  }
}

function tooLarge(path: string): ShootFluxError {
  return new ShootFluxError(
    `${path} is larger than ${MOST_MIB} MiB, more than an API server accepts; name a smaller file.`,
  );
}

/** Reads a file. @returns undefined for one of more MiB, which is not read */
export async function readUpTo(path: string, mib: number): Promise<Buffer | undefined> {
  const { size } = await stat(path);
  return size > mib * 1024 * 1024 ? undefined : readFile(path);
}
