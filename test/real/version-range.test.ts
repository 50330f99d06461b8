import fc from 'fast-check';
import { expect, test } from 'vitest';
import { includesVersion, versionRange } from '../../shared/config/version-range.ts';
import { numericSeed } from '../scenarios/sampling.ts';
import { ask } from './tools/ask.ts';

interface Answer {
  included?: boolean[];
  error?: string;
}

const RANGES = 3000;

const number = fc.integer({ min: 0, max: 3 }).map(String);
const pre = fc.constantFrom('', '', '', '-rc.1', '-rc.10', '-alpha');
const version = fc.tuple(number, number, number, pre).map(([a, b, c, p]) => `${a}.${b}.${c}${p}`);
/** Also incomplete ones, and ones with `x`. */
const bound = fc
  .tuple(
    fc.constantFrom('', 'v'),
    fc.array(number, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '.x', '.*', '.X'),
  )
  .chain(([v, parts, x]) =>
    parts.length === 3 ? pre.map((p) => `${v}${parts.join('.')}${p}`) : fc.constant(`${v}${parts.join('.')}${x}`),
  );
const operator = fc.constantFrom('', '=', '!=', '>', '<', '>=', '=>', '<=', '=<', '~', '~>', '^');
const blank = fc.constantFrom('', ' ');
const comparison = fc.tuple(operator, blank, bound).map(([op, space, text]) => `${op}${op === '' ? '' : space}${text}`);
const alternative = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.array(comparison, { minLength: 1, maxLength: 3 }), fc.constantFrom(' ', ', ', ','))
      .map(([all, separator]) => all.join(separator)),
  },
  { weight: 1, arbitrary: fc.tuple(bound, bound).map(([from, to]) => `${from} - ${to}`) },
  { weight: 1, arbitrary: fc.constant('*') },
);
const range = fc.array(alternative, { minLength: 1, maxLength: 3 }).map((all) => all.join(' || '));

test(`${RANGES} ranges include the same versions as in the library that Flux uses`, async () => {
  const samples = fc.sample(fc.record({ range, versions: fc.array(version, { minLength: 20, maxLength: 20 }) }), {
    numRuns: RANGES,
    seed: numericSeed,
  });
  const answers = await ask<Answer>('semver', samples);
  const differences = samples.flatMap(({ range: text, versions }, index) => {
    const { included, error } = answers[index] ?? { error: 'no answer' };
    const parsed = versionRange(text);
    if (parsed === undefined || included === undefined) {
      return (parsed === undefined) === (included === undefined) ? [] : [`${text}: ${error ?? 'accepted by Flux'}`];
    }
    return versions
      .filter((each, at) => includesVersion(parsed, each) !== included[at])
      .map((each) => `${text}: ${each} ${includesVersion(parsed, each) ? 'is not' : 'is'} included by Flux`);
  });
  expect(differences).toEqual([]);
});
