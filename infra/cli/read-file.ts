import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import type { Terminal } from './command.ts';

/** What the parser calls the mistakes that a person would not call "neither YAML nor JSON". */
const mistakes: Record<string, string> = {
  DUPLICATE_KEY: 'has a key that is there already',
  TAB_AS_INDENT: 'is indented with a tab',
};

/**
 * One YAML or JSON document from a file, or from standard input for `-`; empty ones beside it do not count.
 * @throws ShootFluxError when it cannot be read; the message never quotes the content, which may be a Secret
 */
export async function readDocument(path: string, terminal: Terminal): Promise<unknown> {
  const content = path === '-' ? await terminal.stdin() : await readText(path);
  // Merge keys are YAML 1.1, but kubectl reads them. Warnings of the parser would quote the content.
  const documents = [...parseAllDocuments(content, { prettyErrors: false, merge: true, logLevel: 'error' })];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong !== undefined) {
    const line = content.slice(0, wrong.pos[0]).split('\n').length;
    const what = mistakes[wrong.code] ?? `is neither YAML nor JSON (${wrong.code})`;
    throw new ShootFluxError(`${path}: line ${line} ${what}: mend the file.`);
  }
  const values = documents.map((document) => plainValue(path, () => document.toJS())).filter((value) => value !== null);
  if (values.length > 1) throw new ShootFluxError(`${path}: holds ${values.length} documents: leave one of them.`);
  return values[0] ?? null;
}

/** What JSON can hold, too: aliases have to lead somewhere, never in a circle, and tags to no other types. */
function plainValue(path: string, read: () => unknown): unknown {
  try {
    const value = read();
    if (isJson(value, [])) return value;
  } catch (error) {
    // The parser's error for an alias without anchor, or for far too many of them.
    if (!(error instanceof ReferenceError)) throw error;
  }
  throw new ShootFluxError(
    `${path}: has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan): write the value itself.`,
  );
}

function isJson(value: unknown, above: readonly unknown[]): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && !above.includes(value) && Object.values(value).every((inner) => isJson(inner, [...above, value]));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`${path}: cannot be read (${errorMessage(error)}): name a file, or - for standard input.`);
  }
}
