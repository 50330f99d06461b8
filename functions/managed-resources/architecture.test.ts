import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

interface Import {
  from: string;
  /** The path inside this function, or from `shared/` on. */
  to: string;
  isType: boolean;
}

const root = import.meta.dirname;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);

/** Imports of types only are gone when the code runs. */
const imports: Import[] = files.flatMap((from) =>
  [...readFileSync(join(root, from), 'utf8').matchAll(/^import (type )?[^;]*?from '([^']+)';/gm)].map(
    ([, type, specifier = '']) => {
      const to = specifier.startsWith('.') ? normalize(join(from, '..', specifier)) : specifier;
      return { from, to: to.replace(/^.*(?=shared\/)/, ''), isType: type !== undefined };
    },
  ),
);

/** The room of a file: its folder, or the file itself at the top. */
const roomOf = (file: string) => file.split('/')[0] ?? '';

const fromTo = (room: string, other: string) =>
  imports.filter(({ from, to }) => roomOf(from) === room && roomOf(to) === other);

describe('the folders of this function', () => {
  it('are imported from at all', () => {
    for (const room of ['read', 'plan', 'deliver', 'uninstall', 'shoot']) {
      expect(imports.filter(({ to }) => roomOf(to) === room).length).toBeGreaterThan(2);
    }
  });

  it('deliver and uninstall do not import each other', () => {
    expect([...fromTo('deliver', 'uninstall'), ...fromTo('uninstall', 'deliver')]).toEqual([]);
  });

  it.each(['read', 'deliver', 'uninstall', 'shoot'])('plan imports nothing from %s', (other) => {
    expect(fromTo('plan', other)).toEqual([]);
  });

  it('read and shoot import nothing from deliver or uninstall', () => {
    const below = ['read', 'shoot'].flatMap((room) => [...fromTo(room, 'deliver'), ...fromTo(room, 'uninstall')]);
    expect(below).toEqual([]);
  });

  it('plan only computes: at run time it imports no client, no file and no clock', () => {
    const allowed = /^(plan|objects\.ts|node:crypto|shared\/(config|flux|gardener|errors\.ts))/;
    const withIo =
      /^shared\/(flux\/distribution|gardener\/(shoot-client|load-extension)|kube\/(client|http-client|transport))/;
    const wrong = imports.filter(
      ({ from, to, isType }) => roomOf(from) === 'plan' && !isType && (!allowed.test(to) || withIo.test(to)),
    );
    expect(wrong).toEqual([]);
  });

  it('plan awaits nothing', () => {
    const waiting = files.filter(
      (file) => roomOf(file) === 'plan' && /\b(async|await)\b/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(waiting).toEqual([]);
  });
});
