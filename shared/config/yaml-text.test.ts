import { expect, it, test } from 'vitest';
import { projectLayers } from './effective-config.ts';
import { readYamlText } from './yaml-text.ts';

it.each<[string, string, string]>([
  ['a long text', 'x'.repeat(64 * 1024 + 1), 'has more than 64 KiB; make it shorter'],
  ['keys without a value', '? '.repeat(30_000), 'has more than 200 characters of ?, !, & and *; make it shorter'],
])('a text that would take long to parse is refused before: %s', (_what, text, problem) => {
  expect(readYamlText(text)).toEqual({ problem });
});

test('aliases that would become millions of values are refused', () => {
  const lines = Array.from(
    { length: 30 },
    (_, i) => `b${i}: &b${i} [*${i === 0 ? 'a' : `b${i - 1}`}, *${i === 0 ? 'a' : `b${i - 1}`}]`,
  );
  expect(readYamlText(`a: &a [x, x]\n${lines.join('\n')}`)).toEqual({
    problem: 'has aliases that stand for too many values; write the values out',
  });
});

test('a text that is nested too deeply is refused with a sentence', () => {
  const read = readYamlText(`${'['.repeat(6000)}${']'.repeat(6000)}`);
  expect(read).toEqual({ problem: 'is nested more than 64 levels deep; flatten it' });
});

test.each([
  ...['a: !!timestamp 2026-11-22', 'a: !!set { x, y }', 'a: !!omap [x: 1]', 'a: !!binary aGlkZGVu'],
  ...['a: .inf', 'a: [-.inf, 1]', 'a: .nan', 'a: 1e999', '%YAML 1.1\n---\na: 2026-11-22'],
])('a value that JSON cannot express is refused: %j', (text) => {
  expect(readYamlText(text)).toEqual({
    problem: 'has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan); write the value itself',
  });
});

test('numbers that begin with 0 are octal, as for kubectl, and others are decimal', () => {
  const read = readYamlText('[0444, 0o444, 00, -07, 0, 10, 089, 0.5, "0444", 0444a]');
  expect(read).toEqual({ value: [292, 292, 0, -7, 0, 10, 89, 0.5, '0444', '0444a'] });
});

test.each(['no', 'Yes', 'ON', 'off'])('%s without quotes is refused: for kubectl and Helm it is a boolean', (word) => {
  const problem = `has ${word} without quotes, which kubectl and Helm read as a boolean; write true or false, or put it in quotes`;
  expect(readYamlText(`a: { b: [${word}] }`)).toEqual({ problem });
  expect(readYamlText(`${word}: { a: "${word}", b: ${word}where, c: '${word}' }`)).toEqual({
    value: { [word]: { a: word, b: `${word}where`, c: word } },
  });
});

test('a merge key is refused, and not taken for a field', () => {
  const problem = 'has a merge key, <<, which is not supported; write the fields in its place';
  expect(readYamlText('a: &a { b: 1 }\nc: { <<: *a }')).toEqual({ problem });
  expect(readYamlText('a: { "<<": 1 }')).toEqual({ value: { a: { '<<': 1 } } });
});

test.each(['a: &a { b: *a }', '&a { b: *a }', '&a [*a]'])('a circle of aliases is refused: %s', (text) => {
  const problem = 'is nested more than 64 levels deep; flatten it';
  expect(readYamlText(text)).toEqual({ problem });
  const data = { 'config.yaml': text, 'overrides.yaml': text, rollout: text };
  const { issues } = projectLayers({ namespace: '', data }, {});
  expect(issues.map(({ path, message }) => [path, message])).toEqual(Object.keys(data).map((key) => [key, problem]));
});

test('a key that would be the prototype of an object is refused', () => {
  const problem = 'has the key "__proto__", which is not supported; remove it';
  expect(readYamlText('__proto__: { polluted: true }')).toEqual({ problem });
  expect(readYamlText('a: [{ __proto__: x }]')).toEqual({ problem });
});

test('equal texts are parsed once, as long as not too much else is read', () => {
  const first = readYamlText('a: [1]');
  expect(readYamlText('a: [1]')).toBe(first);
  for (let index = 0; index < 5; index++) readYamlText(`a: ${index}${'x'.repeat(60_000)}`);
  expect(readYamlText('a: [1]')).not.toBe(first);
});
