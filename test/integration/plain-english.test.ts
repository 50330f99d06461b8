import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

interface Rule {
  pattern: RegExp;
  better: string;
}

/** Words and patterns that made sentences read as if translated. docs/glossary.md has the words that we use instead. */
const rules: Rule[] = [
  { pattern: /\btold\b|\btells?\b|\btelling\b/i, better: 'report, show, log, say' },
  { pattern: /\b(?:lets?|letting) (?:\w+ ){0,2}go\b|\blet(?:ting)?Go\b/i, better: 'release, drop, leave' },
  { pattern: /\banew\b/i, better: 'again, recreate, renew' },
  { pattern: /\bsomebody\b|\bsomeone\b/i, better: 'the actor: another controller, the user, gardenlet' },
  { pattern: /\bnobody\b/i, better: 'no controller, no user, nothing' },
  { pattern: /\bwhoever\b/i, better: 'the actor, or the passive voice' },
  { pattern: /\b(?:gets?|getting) on\b/i, better: 'proceed, make progress' },
  { pattern: /\bby (?:itself|themselves)\b/i, better: 'automatically, on its own, or nothing' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, better: 'fix, correct' },
  { pattern: /\bcom(?:e|es|ing) again\b/i, better: 'retry, be redelivered, return' },
  { pattern: /\blook(?:s|ed|ing)? again\b|\blooked at (?:again|once more)\b/i, better: 'recheck, check again' },
  { pattern: /\bwhat is [^.:;]{1,60} is\b/i, better: 'the noun that "what is …" stands for' },
  { pattern: /(?<![a-z])who (?:[a-z]+ ){1,4}(?:is|has|are)\b/i, better: 'the actor' },
  { pattern: /\bstays? told\b|\bfor good\b/i, better: 'keep, permanently' },
  { pattern: /(?:^|[.:|]\s)What [a-z]+ [^?]*$/, better: 'a noun: "Objects that …" instead of "What …"' },
  { pattern: /\(design\b|\bdesign [0-9]/i, better: 'the reason itself, or "decision N"' },
  {
    pattern: /\bfacts\/|\bfacts [0-9]/i,
    better: '"rule N.N" or "trap N" of docs/gardener-contract.md, or docs/flux-facts.md',
  },
];

/** Where a word belongs to something else: a message of Flux, a name of Gardener, a quotation. */
const exceptions: RegExp[] = [
  // The name of a step in the recording of a real resource-manager.
  /'CRD created by somebody else'/,
];

function filesUnder(folder: string, ending: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}

interface Line {
  place: string;
  text: string;
}

function linesOf(file: string): Line[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.map((text, index) => ({ place: `${file}:${index + 1}`, text }));
}

/** The literal text of a line of code: strings and templates. */
function literals({ place, text }: Line): Line[] {
  const found = text.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`?/g) ?? [];
  return found.map((literal) => ({ place, text: literal }));
}

/** Titles of tests and suites. */
function titles({ place, text }: Line): Line[] {
  const [, title] =
    /^\s*(?:(?:it|test|describe|suite)(?:\.\w+)*\(|\]?\)\()\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)/.exec(
      text,
    ) ?? [];
  return title === undefined ? [] : [{ place, text: title }];
}

/** The lines with a banned word, each with a better one. */
function hits(lines: Line[]): string[] {
  return lines
    .filter(({ text }) => !exceptions.some((exception) => exception.test(text)))
    .flatMap(({ place, text }) =>
      rules.flatMap(({ pattern, better }) => {
        const [found] = pattern.exec(text) ?? [];
        return found === undefined ? [] : [`${place}: "${found}" in "${text.trim()}"; better: ${better}`];
      }),
    );
}

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'test/landscape'].flatMap((folder) => filesUnder(folder, '.md')),
];
const shippedRooms = ['events', 'functions', 'shared', 'infra'];
const shipped = shippedRooms.flatMap((room) => filesUnder(room, '.ts').filter((file) => !file.endsWith('.test.ts')));
const tests = [...shippedRooms, 'test']
  .flatMap((room) => filesUnder(room, '.ts'))
  .filter((file) => !shipped.includes(file) && !import.meta.filename.endsWith(file));

describe('the rules of plain English', () => {
  it.each(rules)('$pattern matches a word that is named here', ({ pattern, better }) => {
    expect(pattern.source.length).toBeGreaterThan(4);
    expect(better).not.toMatch(pattern);
  });
});

describe('banned words', () => {
  it('are not in the documentation', () => {
    const lines = pages.flatMap(linesOf);
    expect(lines.length).toBeGreaterThan(500);
    expect(hits(lines)).toEqual([]);
  });

  it('are not in texts of the shipped code', () => {
    const lines = shipped.flatMap(linesOf).flatMap(literals);
    expect(lines.length).toBeGreaterThan(1000);
    expect(hits(lines)).toEqual([]);
  });

  it('are not in titles of tests', () => {
    const lines = tests.flatMap(linesOf).flatMap(titles);
    expect(lines.length).toBeGreaterThan(500);
    expect(hits(lines)).toEqual([]);
  });

  it('are not in comments and names of the code', () => {
    const lines = [...shipped, ...tests].flatMap(linesOf);
    expect(hits(lines)).toEqual([]);
  });
});
