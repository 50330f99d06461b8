import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bench, type Row, verdictOf } from '../bench/bench.ts';
import { inParallel, median } from '../bench/numbers.ts';
import { table } from '../bench/table.ts';

const root = join(import.meta.dirname, '../..');

/** Runs `npm run bench -- …`. */
function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/bench/main.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('npm run bench', () => {
  it('rejects wrong arguments, and prints help', () => {
    expect(run('--only', 'nonsense')).toMatchObject({
      status: 2,
      stderr: 'No bench or line contains nonsense in its name.\n',
    });
    expect(run('--fast')).toMatchObject({ status: 2, stderr: expect.stringContaining('Usage:') });
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage:') });
  });
});

describe('a bench', () => {
  const lines = {
    time: { what: 'time', unit: 's', atMost: 2 },
    more: { what: 'more', unit: 'KB' },
  } as const;
  const rowsOf = (value: number) =>
    bench('b', lines, async () => ({ time: { value, note: 'once' }, more: { value: 0.25 } })).run(() => {});

  it('returns a row for each line', async () => {
    expect(table(await rowsOf(2))).toBe(
      ['   what  at most  measured', '✓  time      2 s       2 s  once', '   more             0.3 KB', ''].join('\n'),
    );
    expect((await rowsOf(2.1)).map(verdictOf)).toEqual([false, undefined]);
  });

  it('returns a row for each line also when it fails', async () => {
    const rows: Row[] = await bench('b', lines, () => Promise.reject(new Error('no etcd'))).run(() => {});
    expect(rows).toEqual([
      { ...lines.time, failure: 'no etcd' },
      { ...lines.more, failure: 'no etcd' },
    ]);
    expect(table(rows)).toMatch(/^! +time +2 s +none +no etcd$/m);
  });

  it('reports the median', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([1, 2])).toBe(1);
    expect(() => median([])).toThrow('empty');
  });

  it('limits how many things run at once', async () => {
    let now = 0;
    let most = 0;
    await inParallel([1, 2, 3, 4, 5], 2, async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 1));
      now--;
    });
    expect({ most, now }).toEqual({ most: 2, now: 0 });
  });
});
