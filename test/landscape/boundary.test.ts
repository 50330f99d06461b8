import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const home = 'test/landscape/';
const manifest = JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8'));
const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });

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
const isTest = ({ file }: Import) => file.endsWith('.test.ts');
const target = ({ file, specifier }: Import) => relative(root, resolve(root, dirname(file), specifier));
const packageName = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

describe('the boundary of the landscape', () => {
  it('is checked against imports in both directions', () => {
    expect(inside.length).toBeGreaterThan(200);
    expect(outside.filter(({ specifier }) => packageName(specifier) === manifest.name).length).toBeGreaterThan(40);
  });

  it('is not crossed by relative imports from outside', () => {
    expect(outside.filter(isRelative).filter((found) => target(found).startsWith(home))).toEqual([]);
  });

  it('gives away the paths of its data only through its entry points', () => {
    const paths = /(?:test|\.)\/landscape\/(?:distribution|crds)/;
    expect(files.filter((file) => !file.startsWith(home) && paths.test(read(file)))).toEqual([]);
  });

  it('is not crossed by relative imports from inside', () => {
    expect(inside.filter(isRelative).filter((found) => !target(found).startsWith(home))).toEqual([]);
  });

  it('exports every entry point that is imported', () => {
    const entries = Object.keys(manifest.exports).map((entry) => entry.replace(/^\./, manifest.name));
    const unknown = outside.filter(
      ({ specifier }) => packageName(specifier) === manifest.name && !entries.includes(specifier),
    );
    expect(unknown).toEqual([]);
  });

  it('exports files that exist', () => {
    const missing = Object.values<string>(manifest.exports).filter((file) => !existsSync(join(root, home, file)));
    expect(missing).toEqual([]);
  });

  it('declares the packages that it imports', () => {
    const undeclared = inside.filter(
      (found) => !isRelative(found) && !isBuiltin(found.specifier) && !declared.includes(packageName(found.specifier)),
    );
    expect(undeclared).toEqual([]);
  });

  it('needs no development dependency outside of tests, except vitest for the suites it exports', () => {
    const development = Object.keys(manifest.devDependencies).filter((name) => name !== 'vitest');
    const wrong = inside.filter((found) => !isTest(found) && development.includes(packageName(found.specifier)));
    expect(wrong).toEqual([]);
  });
});
