import { describe, expect, it, test } from 'vitest';
import { readYamlText } from './yaml-text.ts';

describe('a text that would take long to parse is refused before', () => {
  it.each<[string, string, string]>([
    ['a long text', 'x'.repeat(64 * 1024 + 1), 'has more than 64 KiB; make it shorter'],
    ['many lines', '#\n'.repeat(5000).replaceAll('#', 'a'), 'has more than 5,000 lines; make it shorter'],
    [
      'many brackets',
      '['.repeat(12_001),
      'has more than 12,000 brackets, braces, quotes, commas, colons and dashes; make it shorter',
    ],
    ['keys without a value', '? '.repeat(30_000), 'has more than 200 characters of ?, !, & and *; make it shorter'],
  ])('%s', async (_what, text, problem) => {
    expect(await readYamlText(text)).toEqual({ problem });
  });
});

test('aliases that would become millions of values are refused', async () => {
  const lines = Array.from(
    { length: 30 },
    (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`}, *${i === 0 ? 'a' : `b${i - 1}`}]`,
  );
  expect(await readYamlText(`a: &a [x, x]\n${lines.join('\n')}`)).toEqual({
    problem: 'has aliases that stand for too many values; write the values out',
  });
});

test('a text that is nested too deeply is refused with a sentence', async () => {
  const read = await readYamlText(`${'['.repeat(6000)}${']'.repeat(6000)}`);
  expect(read).toEqual({ problem: 'is nested more than 64 levels deep; flatten it' });
});

test('a key of every object is a key like others', async () => {
  const read = await readYamlText('__proto__: { polluted: true }');
  expect(read).toEqual({ value: JSON.parse('{"__proto__": {"polluted": true}}') });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('equal texts are parsed once', async () => {
  const first = await readYamlText('a: [1]');
  expect(await readYamlText('a: [1]')).toBe(first);
  for (let index = 0; index < 40; index++) await readYamlText(`a: ${index}`);
  expect(await readYamlText('a: [1]')).not.toBe(first);
});
