import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { errorMessage, ShootFluxError } from '../../shared/runtime/errors.ts';
import type { Terminal } from './command.ts';

/**
 * One YAML or JSON document from a file, or from standard input for `-`.
 * @throws ShootFluxError when it cannot be read; the message never quotes the content, which may be a Secret
 */
export async function readDocument(path: string, terminal: Terminal): Promise<unknown> {
  const content = path === '-' ? await terminal.stdin() : await readText(path);
  const document = parseDocument(content, { prettyErrors: false });
  const [error] = document.errors;
  if (error === undefined) return document.toJS();
  const line = content.slice(0, error.pos[0]).split('\n').length;
  throw new ShootFluxError(`${path}: line ${line} is neither YAML nor JSON (${error.code}): mend the file.`);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`${path}: cannot be read (${errorMessage(error)}): name a file, or - for standard input.`);
  }
}
