import { describe, expect, it } from 'vitest';
import { chartReadme, chartValues, valuesSchema } from './files.ts';

const example = `
# The comment above a key describes it.

image:
  # Where the image is.
  repository: registry.example.com/a
  # Which one | of many.
  # @schema {"pattern": "^v"}
  tag: v1
# How many.
# @schema {"minimum": 0}
count: 1
# Anything.
more: {}
`;

describe('values.yaml', () => {
  it('has one value for each key with a comment', () => {
    expect(chartValues(example)).toEqual([
      {
        path: ['image', 'repository'],
        description: 'Where the image is.',
        default: 'registry.example.com/a',
        schema: {},
      },
      { path: ['image', 'tag'], description: 'Which one | of many.', default: 'v1', schema: { pattern: '^v' } },
      { path: ['count'], description: 'How many.', default: 1, schema: { minimum: 0 } },
      { path: ['more'], description: 'Anything.', default: {}, schema: {} },
    ]);
  });

  it('must describe every key', () => {
    expect(() => chartValues('a:\n  b: 1\n')).toThrow(
      'values.yaml: a.b has no comment; describe it in the lines above.',
    );
  });
});

it('the schema takes types from the defaults and refuses unknown keys', () => {
  expect(JSON.parse(valuesSchema(chartValues(example)))).toEqual({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: {
      image: {
        type: 'object',
        additionalProperties: false,
        properties: {
          repository: { description: 'Where the image is.', type: 'string' },
          tag: { description: 'Which one | of many.', type: 'string', pattern: '^v' },
        },
      },
      count: { description: 'How many.', type: 'integer', minimum: 0 },
      more: { description: 'Anything.', type: 'object' },
      global: { type: 'object' },
    },
  });
});

it('the README lists the values', () => {
  const readme = chartReadme('name: a\ndescription: A chart\n', chartValues(example));
  expect(readme).toContain('# a\n\nA chart.\n');
  expect(readme).toContain('| `image.tag` | Which one \\| of many. | `"v1"` |\n| `count` | How many. | `1` |');
});
