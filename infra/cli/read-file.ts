import { readFile, stat } from 'node:fs/promises';
import { type Document, isScalar, parseAllDocuments, visit } from 'yaml';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { asInManifests, isJson, NOT_JSON } from '../../shared/kube/parse-yaml.ts';
import type { Terminal } from './option.ts';

/** Parser error codes with a better description than "neither YAML nor JSON". */
const mistakes: Record<string, string> = {
  TAB_AS_INDENT: 'is indented with a tab',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
};

/**
 * What is left of other encodings, such as the UTF-16 that `>` of Windows PowerShell writes. Their YAML would be a text
 * without objects, and a Shoot in it would be left out of a fleet.
 */
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
  if (content.length > MOST_MIB * 1024 * 1024) throw tooLarge(path);
  if (NOT_UTF_8.test(content)) throw new ShootFluxError(`${path} is not text in UTF-8; save it in this encoding.`);
  const documents = parse(path, content);
  return documents.map((document) => plainValue(path, () => document.toJS())).filter((value) => value !== null);
}

function parse(path: string, content: string): Document[] {
  const mistake = (position: number, what: string) => {
    const line = content.slice(0, position).split('\n').length;
    return new ShootFluxError(`${path}: line ${line} ${what}; correct the file.`);
  };
  // Merge keys are YAML 1.1, but kubectl reads them. The parser's warnings would quote the content. It compares each key
  // with all others, which takes a minute for 60,000 of them, so `repeatedKey` looks for repeated ones.
  const options = { ...asInManifests, prettyErrors: false, merge: true, logLevel: 'error', uniqueKeys: false } as const;
  const documents = [...parseAllDocuments(content, options)];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong !== undefined) {
    throw mistake(wrong.pos[0], mistakes[wrong.code] ?? `is neither YAML nor JSON (${wrong.code})`);
  }
  for (const document of documents) {
    const position = repeatedKey(document);
    if (position !== undefined) throw mistake(position, 'repeats a key');
  }
  return documents;
}

/** Returns the position of the first key that its object has already. */
function repeatedKey(document: Document): number | undefined {
  let position: number | undefined;
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key) || key.value === '<<') continue;
        if (keys.has(key.value)) {
          position = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return position;
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
    const { size } = await stat(path);
    if (size > MOST_MIB * 1024 * 1024) throw tooLarge(path);
    return await readFile(path, 'utf8');
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
