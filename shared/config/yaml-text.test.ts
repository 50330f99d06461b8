import { describe, expect, it, test } from 'vitest';
import { withDocuments } from './documents.ts';
import { projectLayers } from './project-layers.ts';
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

test('a long text gives others their turn while it is parsed', async () => {
  await readYamlText('a: 1');
  let turns = 0;
  let reading = true;
  const count = () => {
    turns++;
    if (reading) setImmediate(count);
  };
  setImmediate(count);
  await readYamlText('- <: \\=\n'.repeat(4900));
  reading = false;
  expect(turns).toBeGreaterThan(0);
});

test('a text that is asked for again while it is parsed is parsed once', async () => {
  const text = 'list:\n'.concat('- a: b\n'.repeat(2000));
  const [one, other] = await Promise.all([readYamlText(text), readYamlText(text)]);
  expect(one).toBe(other);
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

test.each([
  'a: !!timestamp 2026-11-22',
  'a: !!set { x, y }',
  'a: !!omap [x: 1]',
  'a: !!binary aGlkZGVu',
  'a: .inf',
  'a: [-.inf, 1]',
  'a: .nan',
  'a: 1e999',
  '%YAML 1.1\n---\na: 2026-11-22',
])('a value that JSON cannot express is refused: %j', async (text) => {
  expect(await readYamlText(text)).toEqual({
    problem: 'has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan); write the value itself',
  });
});

test('numbers that begin with 0 are octal, as for kubectl, and others are decimal', async () => {
  const read = await readYamlText('[0444, 0o444, 00, -07, 0, 10, 089, 0.5, "0444", 0444a]');
  expect(read).toEqual({ value: [292, 292, 0, -7, 0, 10, 89, 0.5, '0444', '0444a'] });
});

test.each(['no', 'Yes', 'ON', 'off'])(
  '%s without quotes is refused: for kubectl and Helm it is a boolean',
  async (word) => {
    const problem = `has ${word} without quotes, which kubectl and Helm read as a boolean; write true or false, or put it in quotes`;
    expect(await readYamlText(`a: { b: [${word}] }`)).toEqual({ problem });
    expect(await readYamlText(`${word}: { a: "${word}", b: ${word}where, c: '${word}' }`)).toEqual({
      value: { [word]: { a: word, b: `${word}where`, c: word } },
    });
  },
);

test('a merge key is refused, and not taken for a field', async () => {
  const problem = 'has a merge key, <<, which is not supported; write the fields in its place';
  expect(await readYamlText('a: &a { b: 1 }\nc: { <<: *a }')).toEqual({ problem });
  expect(await readYamlText('a: { "<<": 1 }')).toEqual({ value: { a: { '<<': 1 } } });
});

test.each(['a: &a { b: *a }', '&a { b: *a }', '&a [*a]'])('a circle of aliases is refused: %s', async (text) => {
  const problem = 'is nested more than 64 levels deep; flatten it';
  expect(await readYamlText(text)).toEqual({ problem });
  const data = { 'config.yaml': text, 'overrides.yaml': text, rollout: text };
  const { issues } = projectLayers(await withDocuments({ namespace: '', data }), {});
  expect(issues.map(({ path, message }) => [path, message])).toEqual(Object.keys(data).map((key) => [key, problem]));
});

test('a key of every object is a key like others', async () => {
  const read = await readYamlText('__proto__: { polluted: true }');
  expect(read).toEqual({ value: JSON.parse('{"__proto__": {"polluted": true}}') });
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('equal texts are parsed once, as long as not too much else is read', async () => {
  const first = await readYamlText('a: [1]');
  expect(await readYamlText('a: [1]')).toBe(first);
  for (let index = 0; index < 5; index++) await readYamlText(`a: ${index}${'x'.repeat(60_000)}`);
  expect(await readYamlText('a: [1]')).not.toBe(first);
});

test('a short text counts as one of a thousand characters, because its value takes more than the text', async () => {
  const first = await readYamlText('a: [2]');
  for (let index = 0; index < 300; index++) await readYamlText(`a: ${index}`);
  expect(await readYamlText('a: [2]')).not.toBe(first);
});
