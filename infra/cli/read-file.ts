import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import type { Terminal } from './command.ts';

/** Parser error codes with a better description than "neither YAML nor JSON". */
const mistakes: Record<string, string> = {
  DUPLICATE_KEY: 'repeats a key',
  TAB_AS_INDENT: 'is indented with a tab',
};

/**
 * Reads one YAML or JSON document from a file, or from standard input for `-`. Ignores empty documents beside it.
 * @throws ShootFluxError when it cannot be read; the message never quotes the content, which may be a Secret
 */
export async function readDocument(path: string, terminal: Terminal): Promise<unknown> {
  const content = path === '-' ? await terminal.stdin() : await readText(path);
  // Merge keys are YAML 1.1, but kubectl reads them. The parser's warnings would quote the content.
  const documents = [...parseAllDocuments(content, { prettyErrors: false, merge: true, logLevel: 'error' })];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong !== undefined) {
    const line = content.slice(0, wrong.pos[0]).split('\n').length;
    const what = mistakes[wrong.code] ?? `is neither YAML nor JSON (${wrong.code})`;
    throw new ShootFluxError(`${path}: line ${line} ${what}; correct the file.`);
  }
  const values = documents.map((document) => plainValue(path, () => document.toJS())).filter((value) => value !== null);
  if (values.length > 1) throw new ShootFluxError(`${path} holds ${values.length} documents; keep only one.`);
  return values[0] ?? null;
}

/** Reads a value that JSON can express: no dangling or circular aliases, no tags for other types. */
function plainValue(path: string, read: () => unknown): unknown {
  try {
    const value = read();
    if (isJson(value, [])) return value;
  } catch (error) {
    // The parser throws this for an alias without an anchor, or for too many aliases.
    if (!(error instanceof ReferenceError)) throw error;
  }
  throw new ShootFluxError(
    `${path} has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan); write the value itself.`,
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
    throw new ShootFluxError(`cannot read ${path}: ${fileProblem(error)}; name a file, or - for standard input.`);
  }
}
