import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { generatedFiles } from './generated.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = (await generatedFiles()).map(
  ([file, text]) => [relative(root, fileURLToPath(file)), file, text] as const,
);

it.each(files)('%s follows from the code; "npm run docs" writes it', async (_, file, text) => {
  expect(await readFile(file, 'utf8')).toBe(text);
});
