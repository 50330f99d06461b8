import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8');
const readme = read('README.md');

it('has a quick start of at most ten lines that runs', () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', code], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  expect(code.split('\n').filter(Boolean).length).toBeLessThanOrEqual(10);
  expect(output).toMatch(/^shoot--demo--spring: .*\bkube-system\b/);
});

it('lists every entry point', () => {
  const listed = [...readme.matchAll(/^\| `@shoot-flux\/landscape(\S*)` /gm)].map(([, path]) => `.${path}`);
  expect(listed.sort()).toEqual(Object.keys(JSON.parse(read('package.json')).exports).sort());
});
