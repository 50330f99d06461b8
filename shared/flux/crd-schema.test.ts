import { expect, test } from 'vitest';
import { type CrdSchema, schemaProblems } from './crd-schema.ts';

const name: CrdSchema = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 4 } } };
const schema: CrdSchema = {
  type: 'object',
  required: ['url'],
  properties: {
    url: { type: 'string', pattern: '^https://' },
    mode: { type: 'string', enum: ['HEAD', 'Tag'] },
    wait: { type: 'boolean' },
    count: { type: 'integer' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    include: { type: 'array', items: name },
    secretRef: name,
    anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: {} },
    free: { type: 'object' },
    maybe: { type: 'string', nullable: true },
    short: { type: 'string', minLength: 2 },
  },
};

test.each<[object, ...string[]]>([
  [{}],
  [
    {
      mode: 'Tag',
      wait: true,
      count: 2,
      labels: { a: 'b' },
      include: [{ name: 'a' }],
      secretRef: { name: '🚀🚀🚀🚀' },
    },
  ],
  [{ anything: { a: 1 }, free: { a: 1 }, maybe: null }],
  [{ url: 'ssh://a' }, 'spec.url: "ssh://a" is not valid; use a URL that begins with https://'],
  [{ mode: 'Head' }, 'spec.mode: "Head" is not a valid value; did you mean HEAD?'],
  [{ wait: 'true' }, 'spec.wait: must be true or false without quotes, not "true"'],
  [{ wait: null }, 'spec.wait: must be true or false without quotes, not null'],
  [{ count: 1.5 }, 'spec.count: must be an integer, not 1.5'],
  [{ labels: { a: 1 } }, 'spec.labels.a: must be a string, not a number; put it in quotes'],
  [{ include: {} }, 'spec.include: must be a list, not an object; start each entry with "- "'],
  [
    { include: [{}, { nmae: 'a' }] },
    'spec.include[0].name: is missing; set it',
    'spec.include[1].name: is missing; set it',
    'spec.include[1].nmae: is not a known key in Flux v2.9.4; did you mean name?',
  ],
  [{ secretRef: { name: 'abcde' } }, 'spec.secretRef.name: "abcde" is too long; use at most 4 characters'],
  [{ short: 'a' }, 'spec.short: "a" is too short; use at least 2 characters'],
  [
    { constructor: 1 },
    'spec.constructor: is not a known key in Flux v2.9.4; known keys are url, mode, wait, count, labels, include, secretRef, anything, free, maybe, short',
  ],
])('checks %j', (fields, ...sentences) => {
  const value = Object.fromEntries([['url', 'https://a'], ...Object.entries(fields)]);
  expect(schemaProblems(schema, value, ['spec'], 'v2.9.4').map(({ path, message }) => `${path}: ${message}`)).toEqual(
    sentences,
  );
});

test('reports a missing required field', () => {
  expect(schemaProblems(schema, {}, ['spec'], 'v2.9.4')).toEqual([{ path: 'spec.url', message: 'is missing; set it' }]);
});

const bounded: CrdSchema = {
  type: 'object',
  properties: {
    least: { type: 'integer', minimum: 0 },
    some: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
  },
};

test.each<[object, ...string[]]>([
  [{ least: 0, some: ['a', 'b'] }],
  [{ least: -1 }, 'least: -1 is too small; use at least 0'],
  [{ some: [] }, 'some: has 0 entries; use at least 1'],
  [{ some: ['a', 'b', 'c'] }, 'some: has 3 entries; use at most 2'],
])('checks the bounds of %j', (value, ...sentences) => {
  const problems = schemaProblems(bounded, value, [], 'v2.9.4').map(({ path, message }) => `${path}: ${message}`);
  expect(problems).toEqual(sentences);
});

test('a required field with a default may be left out, as in verify of an OCIRepository', () => {
  const verify: CrdSchema = {
    type: 'object',
    required: ['provider', 'mode'],
    properties: { provider: { type: 'string', default: 'cosign' }, mode: { type: 'string' } },
  };
  expect(schemaProblems(verify, {}, ['spec', 'verify'], 'v2.9.4')).toEqual([
    { path: 'spec.verify.mode', message: 'is missing; set it' },
  ]);
});

const fields = (...names: string[]): CrdSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((field) => [field, {}])),
});
const release: CrdSchema = {
  type: 'object',
  properties: {
    values: { type: 'object' },
    targetNamespace: {},
    patches: {},
    timeout: { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' },
    chart: {
      type: 'object',
      properties: { metadata: fields('labels'), spec: fields('version', 'interval', 'sourceRef') },
    },
    install: { type: 'object', properties: { crds: {}, remediation: fields('retries') } },
    upgrade: { type: 'object', properties: { crds: {}, remediation: fields('retries') } },
    rollback: fields('force'),
    test: fields('force'),
    uninstall: fields('force'),
    include: { type: 'array', items: fields('name', 'path') },
  },
};

/** A field that is unknown where it is written -> what is said about it. */
test.each<[object, string]>([
  [{ version: '1' }, 'spec.version: belongs to spec.chart.spec.version; move it there'],
  [{ chart: { version: '1' } }, 'spec.chart.version: belongs to spec.chart.spec.version; move it there'],
  [{ chart: { values: {} } }, 'spec.chart.values: belongs to spec.values; move it there'],
  [{ chart: { spec: { values: {} } } }, 'spec.chart.spec.values: belongs to spec.values; move it there'],
  [{ include: [{ values: {} }] }, 'spec.include[0].values: belongs to spec.values; move it there'],
  [{ crds: 'Skip' }, 'spec.crds: belongs to spec.install.crds or spec.upgrade.crds; move it there'],
  [{ install: { retries: 1 } }, 'spec.install.retries: belongs to spec.install.remediation.retries; move it there'],
  [{ force: true }, 'spec.force: is not a known key in Flux v2.9.4; known keys are values, '],
  [{ namespace: 'a' }, 'spec.namespace: is not a known key in Flux v2.9.4; use targetNamespace instead'],
  [{ patchesJson6902: [] }, 'spec.patchesJson6902: is not a known key in Flux v2.9.4; use patches instead'],
  [{ labels: {} }, 'spec.labels: is not a known key in Flux v2.9.4; '],
  [{ path: 'a' }, 'spec.path: is not a known key in Flux v2.9.4; '],
  [{ timeout: '5 min' }, 'spec.timeout: "5 min" is not a duration; use numbers with the units'],
  [{ timeout: '-5m' }, 'spec.timeout: "-5m" is negative; use a duration without a sign'],
])('a field on another level: %j', (value, sentence) => {
  const problems = schemaProblems(release, value, ['objects[0]', 'spec'], 'v2.9.4');
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    expect.stringContaining(`objects[0].${sentence}`),
  ]);
});
