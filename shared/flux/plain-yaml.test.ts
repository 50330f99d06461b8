import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { readPlainYaml } from './plain-yaml.ts';

test('the styles of a release', () => {
  const text = `# A comment
apiVersion: v1
kind: Example
metadata:
  name: "quoted: name"
  annotations: {}
items:
- plain text
- key: value
  'other key': 'it''s'
  more:
  - - nested
    - 1
  -
empty: []
`;
  expect(readPlainYaml(text.replace('  -\n', ''))).toEqual([
    {
      apiVersion: 'v1',
      kind: 'Example',
      metadata: { name: 'quoted: name', annotations: {} },
      items: ['plain text', { key: 'value', 'other key': "it's", more: [['nested', 1]] }],
      empty: [],
    },
  ]);
  expect(readPlainYaml(text)).toBeUndefined();
});

test('scalars over several lines', () => {
  const text = `block: |-
  First line

    indented: line
  # no comment
clipped: |
  text

plain: one sentence
  that goes on

  in a paragraph
double: "one\\n\\ttwo
  three"
single: 'a
  b'
nothing:
`;
  expect(readPlainYaml(text)).toEqual([
    {
      block: 'First line\n\n  indented: line\n# no comment',
      clipped: 'text\n',
      plain: 'one sentence that goes on\nin a paragraph',
      double: 'one\n\ttwo three',
      single: 'a b',
      nothing: null,
    },
  ]);
});

test('documents are separated by dashes, and empty ones are none', () => {
  expect(readPlainYaml('---\na: 1\n---\n\n# nothing\n---\n# first\nb: true\n')).toEqual([{ a: 1 }, { b: true }]);
  expect(readPlainYaml('')).toEqual([]);
});

test.each([
  ['a flow mapping', 'a: {b: c}\n'],
  ['an anchor', 'a: &x b\n'],
  ['an alias', 'a: *x\n'],
  ['a tag', 'a: !!str b\n'],
  ['a folded block', 'a: >-\n  b\n'],
  ['an indented block', 'a: |2\n   b\n'],
  ['a comment behind a value', 'a: b # c\n'],
  ['a key twice', 'a: b\na: c\n'],
  ['a key that is no text', 'true: b\n'],
  ['a prototype', '__proto__: b\n'],
  ['a number of another base', 'a: 0o17\n'],
  ['an octal number of YAML 1.1', 'a: 0644\n'],
  ['an exponent', 'a: 1e3\n'],
  ['a boolean of YAML 1.1', 'a: yes\n'],
  ['a tab', 'a:\n\tb: c\n'],
  ['a line end of Windows', 'a: b\r\n'],
  ['text behind a quote', 'a: "b" c\n'],
  ['an open quote', 'a: "b\n'],
  ['a backslash at the end of a line', 'a: "b\\\n  c"\n'],
  ['a wrong indentation', 'a:\n    b: c\n  d: e\n'],
  ['a directive', '%YAML 1.2\n---\na: b\n'],
])('%s is for a whole parser', (_, text) => {
  expect(readPlainYaml(text)).toBeUndefined();
});

const key = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_./-]{0,9}$/);
const scalar = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[ -~\n]{0,120}$/),
  fc.lorem({ maxCount: 40 }),
  fc.constantFrom('yes', '1', '0x1', 'null', '- a', 'a: b', 'a #b', '{}', '|', '', ' ', "'", '"'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.dictionary(key, tie('tree'), { maxKeys: 5, noNullPrototype: true }),
    fc.array(tie('tree'), { maxLength: 4 }),
  ),
}));
const document = fc.dictionary(key, tree, { minKeys: 1, maxKeys: 6, noNullPrototype: true });

test('what it reads is what a whole parser reads', () => {
  let read = 0;
  const check = (value: unknown, lineWidth: number, indentSeq: boolean) => {
    const text = stringify(value, { lineWidth, indentSeq });
    const plain = readPlainYaml(text);
    if (plain === undefined) return;
    read++;
    expect(plain).toEqual(parseAllDocuments(text).map((parsed) => parsed.toJS()));
  };
  fc.assert(fc.property(document, fc.constantFrom(0, 40, 80), fc.boolean(), check), { numRuns: 1000 });
  expect(read).toBeGreaterThan(150);
});

test('no text makes it read something else or fail', () => {
  const line = fc.stringMatching(/^ {0,4}(- )?(a|b|"c"|'d')?(: ?)?(x|1|"y|z"|\||\|-|'|\{\}|#|\\|- )?$/);
  const check = (lines: string[]) => {
    const text = lines.join('\n');
    const plain = readPlainYaml(text);
    if (plain === undefined || plain.length === 0) return;
    const documents = parseAllDocuments(text);
    expect(plain).toEqual([...documents].map((parsed) => parsed.toJS()));
    expect([...documents].flatMap((parsed) => parsed.errors)).toEqual([]);
  };
  fc.assert(fc.property(fc.array(line, { maxLength: 7 }), check), { numRuns: 5000 });
});
