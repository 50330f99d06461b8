import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDefinitions, findFunctions } from './functions.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'functions-'));
});
afterEach(() => rm(folder, { recursive: true }));

const inFolder = () => pathToFileURL(`${folder}/`);
async function write(name: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(folder, name));
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, name, file), text);
}
const definition = (name: string) => `export const definition = { name: '${name}' };`;
const handler = 'export const handler = async () => ({ type: "done" });';

describe('functions', () => {
  it('are the folders of functions/, each with a definition and a handler', async () => {
    const found = await findFunctions();
    expect(found.map(({ definition: { name } }) => name)).toContain('keys');
    for (const { definition: found_, handler: run } of found) {
      expect(found_.description).toMatch(/\.$/);
      expect(run).toBeTypeOf('function');
    }
  });

  it('need nothing besides their folder', async () => {
    await write('newcomer', { 'function.ts': definition('newcomer'), 'handler.ts': handler });
    await write('notes', { 'README.md': 'no function' });
    expect((await findFunctions(inFolder())).map(({ definition: { name } }) => name)).toEqual(['newcomer']);
  });

  it('are refused when their name differs from their folder', async () => {
    await write('one', { 'function.ts': definition('other') });
    await expect(findDefinitions(inFolder())).rejects.toThrow('functions/one/function.ts must export definition');
  });

  it('are refused without a handler', async () => {
    await write('one', { 'function.ts': definition('one'), 'handler.ts': 'export const run = 1;' });
    await expect(findFunctions(inFolder())).rejects.toThrow('functions/one/handler.ts must export handler');
  });
});
