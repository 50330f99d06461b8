import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const folder = import.meta.dirname;
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

describe('README', () => {
  it('has a quick start of at most ten lines that runs', () => {
    const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    const output = execFileSync(process.execPath, ['--input-type=module-typescript', '--eval', code], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(code.split('\n').filter(Boolean).length).toBeLessThanOrEqual(10);
    expect(output).toMatch(/^shoot--demo--spring: .*\bkube-system\b/);
  });

  it('lists every entry point', () => {
    const listed = [...readme.matchAll(/^\| `@shoot-flux\/landscape(\S*)` /gm)].map(([, path]) => `.${path}`);
    expect(listed.sort()).toEqual(Object.keys(manifest.exports).sort());
  });
});
