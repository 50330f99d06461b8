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

const files = ['shared', 'functions', 'events', 'infra'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !isTest(file))
    .map((file) => join(folder, file)),
);

/** The imports of values: `import type` needs nothing at run time. */
function importsOf(from: string): Import[] {
  const text = readFileSync(join(root, from), 'utf8').replaceAll(/^(?:import|export) type .*$/gm, '');
  const specifiers = [...text.matchAll(/(?:from|import\(|import)\s*'(\.{1,2}\/[^']+)'/g)];
  return specifiers.map(([, specifier = '']) => ({
    from,
    to: relative(root, resolve(root, dirname(from), specifier)),
  }));
}

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
  const imports = files.flatMap(importsOf);
  expect(imports.length).toBeGreaterThan(1000);
  const wrong = imports.filter(({ from, to }) => {
    const [one, other] = [lineOf(from), lineOf(to)];
    return other > one || (one === other && functionOf(from) !== functionOf(to) && order[one]?.includes('functions'));
  });
  expect(wrong).toEqual([]);
});
