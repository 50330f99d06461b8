import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { DECISIONS_PAGE, decisionsPage } from './decisions.ts';

it('writes the index that is in docs/decisions', async () => {
  expect(await readFile(DECISIONS_PAGE, 'utf8')).toBe(await decisionsPage());
});
