import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** A room imports only from its own line and from those above it. Types alone may come from below. */
const order = [
  ['shared', 'shared/kube'],
  ['shared/config'],
  ['shared/flux'],
  ['shared/gardener'],
  ['functions', 'events'],
  ['infra'],
  ['test'],
];

interface Import {
  from: string;
  to: string;
}

/** Tests beside the sources may import what they like. */
const isTest = (file: string) => /\.(test|fixtures|examples)\.ts$|(^|\/)testing\.ts$/.test(file);

const all = ['shared', 'functions', 'events', 'infra', 'test'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
);
const files = all.filter((file) => !file.startsWith('test/') && !isTest(file));

function importsOf(from: string, text = readFileSync(join(root, from), 'utf8')): Import[] {
  const specifiers = [...text.matchAll(/(?:from|import\(|import)\s*'(\.{1,2}\/[^']+)'/g)];
  return specifiers.map(([, specifier = '']) => ({
    from,
    to: relative(root, resolve(root, dirname(from), specifier)),
  }));
}

/** The imports of values: `import type` needs nothing at run time. */
const valuesOf = (from: string) =>
  importsOf(from, readFileSync(join(root, from), 'utf8').replaceAll(/^(?:import|export) type .*$/gm, ''));

function lineOf(file: string): number {
  const [room = '', part = ''] = file.split('/');
  const own = order.findIndex((rooms) => rooms.includes(`${room}/${part}`));
  return own === -1 ? order.findIndex((rooms) => rooms.includes(room)) : own;
}

/** `functions/keys`, or the room itself. */
const functionOf = (file: string) =>
  file
    .split('/')
    .slice(0, file.startsWith('functions/') ? 2 : 1)
    .join('/');

it('arrows between rooms point one way, and functions do not import each other', () => {
  const imports = files.flatMap(valuesOf);
  expect(imports.length).toBeGreaterThan(1000);
  const wrong = imports.filter(({ from, to }) => {
    const [one, other] = [lineOf(from), lineOf(to)];
    return other > one || (one === other && functionOf(from) !== functionOf(to) && order[one]?.includes('functions'));
  });
  expect(wrong).toEqual([]);
});

it('the landscape and all others know each other only by the names of packages', () => {
  const isOfLandscape = (file: string) => file.startsWith('test/landscape/');
  const imports = all.flatMap((file) => importsOf(file));
  expect(imports.filter(({ from }) => isOfLandscape(from)).length).toBeGreaterThan(200);
  expect(imports.filter(({ from, to }) => isOfLandscape(from) !== isOfLandscape(to))).toEqual([]);
});
