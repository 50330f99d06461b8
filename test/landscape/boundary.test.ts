import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const home = 'test/landscape/';
const manifest = JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8'));

interface Import {
  file: string;
  specifier: string;
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(root, file)));

const imports = files.flatMap((file): Import[] =>
  [...read(file).matchAll(/^(?:import|export|\}) (?:.* from )?'([^'$]+)';$|import\('([^'$]+)'\)/gm)].map(
    ([, static_, dynamic]) => ({ file, specifier: static_ ?? dynamic ?? '' }),
  ),
);
const inside = imports.filter(({ file }) => file.startsWith(home));
const outside = imports.filter(({ file }) => !file.startsWith(home));

const isRelative = ({ specifier }: Import) => specifier.startsWith('.');
const target = ({ file, specifier }: Import) => relative(root, resolve(root, dirname(file), specifier));
const packageName = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

describe('the boundary of the landscape', () => {
  it('is crossed in both directions only by names of packages', () => {
    expect(inside.length).toBeGreaterThan(200);
    expect(outside.filter(({ specifier }) => packageName(specifier) === manifest.name).length).toBeGreaterThan(40);
    expect(outside.filter(isRelative).filter((found) => target(found).startsWith(home))).toEqual([]);
    expect(inside.filter(isRelative).filter((found) => !target(found).startsWith(home))).toEqual([]);
  });
});

describe('its README', () => {
  const readme = read(`${home}README.md`);

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
    expect(listed.sort()).toEqual(Object.keys(manifest.exports).sort());
  });
});
