import { describe, expect, it } from 'vitest';
import { filesUnder, namedTests, read, titlesIn } from './named-tests.ts';

const page = 'docs/gardener-contract.md';

interface Row {
  number: string;
  what: string;
  heldBy: string;
}

/** Rows of all tables under a heading of the second level. */
function rowsUnder(heading: string): Row[] {
  const section = read(page)
    .split(/^## /m)
    .find((text) => text.startsWith(`${heading}\n`));
  const lines = section?.match(/^\| [0-9].*\|$/gm) ?? [];
  return lines.map((line) => {
    const [number = '', what = '', heldBy = ''] = line.slice(2, -2).split(' | ');
    return { number, what, heldBy };
  });
}

const rules = rowsUnder('Rules');
const traps = rowsUnder('Traps');
const rows = [...rules, ...traps];

const named = ({ heldBy }: Row) => namedTests(heldBy);
const sources = ['functions', 'shared', 'events', 'infra', 'test'].flatMap(filesUnder);

/** Numbers that comments and titles refer to, in any file. */
function mentioned(pattern: RegExp): string[] {
  const numbers = sources.flatMap((file) => [...read(file).matchAll(pattern)].map(([, list = '']) => list));
  return [...new Set(numbers.flatMap((list) => list.match(/[0-9]+(\.[0-9]+)*/g) ?? []))];
}

describe('the table of the contract', () => {
  it('has a row for every trap, in order', () => {
    expect(traps.length).toBeGreaterThan(0);
    expect(traps.map(({ number }) => number)).toEqual(traps.map((_, index) => String(index + 1)));
  });

  it('has the rules of each section, in order', () => {
    const ofSection = Map.groupBy(rules, ({ number }) => number.replace(/\.[0-9]+$/, ''));
    // Section 3 has only the rows that concern us; the others are complete.
    ofSection.delete('3');
    for (const [section, list] of ofSection) {
      expect(list.map(({ number }) => number)).toEqual(list.map((_, index) => `${section}.${index + 1}`));
    }
    const complete = ['1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7', '2.1', '2.2', '7', '8'];
    expect(complete.filter((section) => !ofSection.has(section))).toEqual([]);
  });

  it('has a row for every number that the code refers to', () => {
    const numbers = mentioned(/\btraps? ([0-9]+(?:(?:, | and )[0-9]+)*)/gi);
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers.filter((number) => !traps.some((trap) => trap.number === number))).toEqual([]);
    const known = (number: string) => rules.some((rule) => `${rule.number}.`.startsWith(`${number}.`));
    const sections = mentioned(/\brules? ([0-9]+(?:\.[0-9]+)*(?:(?:, | and )[0-9]+(?:\.[0-9]+)*)*)/gi);
    expect(sections.length).toBeGreaterThan(8);
    expect(sections.filter((number) => !known(number))).toEqual([]);
  });

  it('names a test for each row, or the reason for none', () => {
    const unclear = rows.filter(
      (row) => named(row).length === 0 && !/^(Not here yet|Nothing to hold): ./.test(row.heldBy),
    );
    expect(unclear).toEqual([]);
    expect(rows.filter(({ what }) => what.length < 10)).toEqual([]);
  });

  it.each([...new Set(rows.flatMap(named).map(([file]) => file))])('names only tests that %s has', (file) => {
    const titles = titlesIn(file);
    const missing = rows.flatMap(named).filter(([path, title]) => path === file && !titles.has(title));
    expect(missing).toEqual([]);
  });

  it('names scenarios that run on embedded and on real API servers', () => {
    const scenarios = new Set(
      rows.flatMap(named).flatMap(([file]) => (file.startsWith('test/scenarios/') ? [file] : [])),
    );
    expect(scenarios.size).toBeGreaterThan(0);
    const real = filesUnder('test/real').map(read);
    const embedded = filesUnder('test/integration').map(read);
    for (const file of scenarios) {
      const [, suite = ''] = /export function (\w+Suite)\(/.exec(read(file)) ?? [];
      expect(real.some((text) => new RegExp(`^ {2}${suite}\\(`, 'm').test(text))).toBe(true);
      expect(embedded.some((text) => new RegExp(`^${suite}\\(`, 'm').test(text))).toBe(true);
    }
  });

  it('lists every scenario that is named after a trap or a rule', () => {
    const mine = filesUnder('test/scenarios').flatMap((file) => [...titlesIn(file)].map((title) => [file, title]));
    const after = mine.filter(([, title = '']) => /^(trap|rule) [0-9]/.test(title));
    const listed = rows.flatMap(named).map(([, title]) => title);
    expect(after.filter(([, title = '']) => !listed.includes(title))).toEqual([]);
  });
});

describe('error codes', () => {
  it('trap 21: no code that puts a Shoot into Failed is in the sources', () => {
    const product = ['functions', 'shared', 'events', 'infra'].flatMap(filesUnder);
    const codes = product
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => read(file).match(/\bERR_[A-Z_]+/g) ?? []);
    // Codes of Node.js, which no status carries.
    const ofNode = [
      ...['ERR_BUFFER_TOO_LARGE', 'ERR_WORKER_OUT_OF_MEMORY', 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'],
      ...['ERR_INVALID_CHAR', 'ERR_OSSL_'],
    ];
    expect(new Set(codes.filter((code) => !ofNode.includes(code)))).toEqual(
      new Set(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']),
    );
  });
});
