import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a process that was busy returns its memory, although it never stops allocating', async () => {
  const program = join(import.meta.dirname, 'busy-heap.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 300_000 });
  const { full, rest } = JSON.parse(stdout);
  expect(rest).toBeLessThan(full * 0.67);
});
