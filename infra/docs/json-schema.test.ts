import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { oldPipeline } from '../../shared/config/config.fixtures.ts';
import { projectLayers } from '../../shared/config/effective-config.ts';
import { fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { readProviderConfig } from '../../shared/config/provider-config.ts';
import { schemaIssues } from '../../shared/config/schema.ts';
import { asObject, withoutNulls } from '../../shared/config/values.ts';
import { readYamlText } from '../../shared/config/yaml-text.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { documents, root } from '../../test/integration/documents.ts';
import { configMapSchema } from '../cli/inputs.ts';
import { schemaFiles } from './json-schema.ts';

const ajv = new Ajv({ allErrors: true, strict: false });
const checks = Object.fromEntries(
  Object.entries(schemaFiles()).map(([file, text]) => [
    file.slice('schemas/'.length, -'.json'.length),
    ajv.compile(JSON.parse(text)),
  ]),
);

/** Returns where a value is wrong for a schema, as paths with the wrong key at the end. */
function wrongPlaces(name: string, value: unknown): string[] {
  const check = checks[name];
  if (check === undefined) throw new Error(`There is no schema ${name}.`);
  check(value);
  const errors = (check.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  return [
    ...new Set(
      errors.map(({ instancePath, params }) =>
        [instancePath, params.additionalProperty ?? params.missingProperty]
          .filter((part) => part !== undefined)
          .join('/'),
      ),
    ),
  ];
}

/** What the product says about a value for a schema. */
function sentences(name: string, value: unknown): string[] {
  const configMap = (data: unknown) => projectLayers(fluxConfigMapOf('garden-foo', { data }), undefined).issues;
  const json = () => JSON.stringify(value);
  const read: Record<string, () => { message: string }[]> = {
    'provider-config': () => readProviderConfig(value).issues,
    'flux-config': () => {
      const given = withoutNulls(value);
      return [...schemaIssues('file', configMapSchema, given), ...configMap(asObject(given)?.data)];
    },
    config: () => configMap({ 'config.yaml': json() }),
    overrides: () => configMap({ 'overrides.yaml': json() }),
  };
  return read[name]?.().map(({ message }) => message) ?? [];
}

type Example = [schema: string, value: unknown, from: string];

function examplesIn(text: string, from: string): Example[] {
  const values = parseAllDocuments(text).filter(({ errors }) => errors.length === 0);
  return values
    .map((document) => asObject(document.toJS()))
    .flatMap((object = {}): Example[] => {
      const { kind, metadata, spec, data } = object;
      const extensions = asObject(spec)?.extensions;
      if (kind === 'FluxConfig') return [['provider-config', object, from]];
      if (kind === 'ConfigMap' && asObject(metadata)?.name === 'flux-config') {
        const below = ['config', 'overrides'].flatMap((name): Example[] => {
          const read = readYamlText(String(asObject(data)?.[`${name}.yaml`] ?? ''));
          return 'value' in read ? [[name, read.value, from]] : [];
        });
        return [['flux-config', object, from], ...below];
      }
      if (kind !== 'Shoot' || !Array.isArray(extensions)) return [];
      const own = extensions.filter((entry) => entry.type === EXTENSION_TYPE && entry.providerConfig);
      return own.map(({ providerConfig }): Example => ['provider-config', providerConfig, from]);
    });
}

const source = {
  template: { kind: 'GitRepository', spec: { url: 'https://git.example.com/fleet', ref: { branch: 'main' } } },
};
const kustomization = { template: { spec: { path: './' } } };

/** What other tests configure, and what Go programs and former extensions write. */
const ofTests: Example[] = [
  { objects: oldPipeline },
  { source: { gitRepository: source }, kustomization },
  {
    source: { ociRepository: { template: { spec: { url: 'oci://ghcr.io/org/fleet', ref: { tag: 'v1' } } } } },
    kustomization,
  },
  { flux: null, source: '', kustomization: null, objects: [], syncMode: '', suspend: null, existingSecrets: null },
  {
    source: {
      template: {
        ...source.template,
        metadata: { name: '', creationTimestamp: null, labels: { a: null } },
        status: {},
      },
    },
    kustomization: {
      template: { spec: { ...kustomization.template.spec, interval: '0s', prune: null, sourceRef: {} } },
    },
  },
  { kustomization: { patch: { spec: { interval: null, path: './dev' } } } },
  {
    objects: [
      { kind: 'Provider', metadata: { name: 'chat' } },
      { kind: 'New', apiVersion: 'new.toolkit.fluxcd.io/v1', metadata: { name: 'a' } },
    ],
  },
  { flux: { components: [], proxy: { https: 'http://proxy.example.com:3128' }, nodeSelector: { a: 'b' } } },
].map((config): Example => ['provider-config', config, 'tests']);

const files = ['example/project', 'example/shoot'].flatMap((folder) =>
  readdirSync(join(root, folder)).map((file) => [readFileSync(join(root, folder, file), 'utf8'), file] as const),
);
const examples = [
  ...documents.flatMap(({ path, fences }) =>
    fences.filter(({ language }) => language === 'yaml').flatMap(({ text }) => examplesIn(text, path)),
  ),
  ...files.flatMap(([text, file]) => examplesIn(text, file)),
  ...ofTests,
];
const valid = examples.filter(([name, value]) => sentences(name, value).length === 0);

it('knows examples of every kind, from pages, files and tests', () => {
  expect(Map.groupBy(valid, ([name]) => name).size).toBe(4);
  expect(valid.length).toBeGreaterThan(40);
  expect(ofTests.flatMap(([name, value]) => sentences(name, value))).toEqual([]);
});

test.each(valid)('%s permits %j of %s', (name, value) => {
  expect(wrongPlaces(name, value)).toEqual([]);
});

type Wrong = [schema: string, place: string, value: unknown];

const inSource = (spec: object, more: object = {}) => ({
  source: { template: { kind: 'GitRepository', spec: { ...source.template.spec, ...spec }, ...more } },
});
const flux: Wrong[] = [
  ['flux/version', { flux: { version: 2.9 } }],
  ['flux/logLevel', { flux: { logLevel: 'loud' } }],
  ['flux/fluxVersion', { flux: { fluxVersion: 'v2.9.4' } }],
  ['flux/networkPolicy', { flux: { networkPolicy: 'no' } }],
  ['flux/components/1', { flux: { components: ['source-controller', 7] } }],
  ['flux/proxy/url', { flux: { proxy: { url: 'http://proxy.example.com' } } }],
  ['flux/storage/size', { flux: { storage: { class: 'default' } } }],
  ['flux/nodeSelector/pool', { flux: { nodeSelector: { pool: 1 } } }],
  ['syncMode', { syncMode: 'Always' }],
  ['fluxx', { fluxx: {} }],
  ['source/template', { source: {} }],
  ['source/url', { source: { template: source.template, url: 'https://git.example.com' } }],
  ['source/template/kind', { source: { template: { kind: 'HelmRepository', spec: {} } } }],
  ['source/template/spec/url', { source: { template: { kind: 'GitRepository', spec: { ref: { branch: 'main' } } } } }],
  ['source/template/spec/interval', inSource({ interval: 60 })],
  ['source/template/spec/ref/tag', inSource({ ref: { tag: 1.2 } })],
  ['source/template/metadata/labels/a', inSource({}, { metadata: { labels: { a: true } } })],
  [
    'sources/0/template/spec/bucketName',
    { sources: [{ template: { kind: 'Bucket', spec: { endpoint: 's3.example.com' } } }] },
  ],
  ['kustomization/template/spec/path', { kustomization: { template: { spec: { prune: true } } } }],
  ['kustomization/template/spec/prune', { kustomization: { template: { spec: { path: './', prune: 'yes' } } } }],
  ['kustomization/patch/path', { kustomization: { patch: { path: './' } } }],
  ['objects/0/kind', { objects: [{ kind: 'Deployment', metadata: { name: 'a' } }] }],
  ['objects/0/metadata/name', { objects: [{ kind: 'Provider', metadata: {}, spec: {} }] }],
  ['objects/0/spec/values', { objects: [{ kind: 'HelmRelease', metadata: { name: 'a' }, spec: { values: 'a: b' } }] }],
  ['additionalSecretResources/0/name', { additionalSecretResources: [{ targetName: 'a' }] }],
].map(([place, value]) => ['provider-config', place as string, value]);
const ofMap = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'flux-config' }, data });
const wrong: Wrong[] = [
  ...flux,
  ...flux.map(([, place, value]): Wrong => ['config', place, value]),
  ...flux.map(
    ([, place, config]): Wrong => [
      'overrides',
      `1/config/${place}`,
      [
        { selector: {}, config: {} },
        { selector: {}, config },
      ],
    ],
  ),
  ['overrides', '0/selector/labels', [{ selector: { labels: {} }, config: {} }]],
  ['overrides', '0/selector/matchLabels/stage', [{ selector: { matchLabels: { stage: null } }, config: {} }]],
  ['overrides', '0/config', [{ selector: {} }]],
  ['overrides', '', { selector: {}, config: {} }],
  ['flux-config', 'data/fluxVersion', ofMap({ fluxVersion: 2.9 })],
  ['flux-config', 'data/networkPolicy', ofMap({ networkPolicy: 'no' })],
  ['flux-config', 'data/syncMode', ofMap({ syncMode: 'always' })],
  ['flux-config', 'data/version', ofMap({ version: 'v2.9.4' })],
  ['flux-config', 'spec', { ...ofMap({}), spec: {} }],
  ['flux-config', 'metadata/name', { ...ofMap({}), metadata: { name: 'flux' } }],
  ['flux-config', 'kind', { data: {} }],
  ['flux-config', 'data/config.yaml', ofMap({ 'config.yaml': { flux: {} } })],
];

test.each(wrong)('%s refuses %s, as the product does', (name, place, value) => {
  expect(sentences(name, value)).not.toEqual([]);
  expect(wrongPlaces(name, value)).toEqual([place === '' ? '' : `/${place}`]);
});

/** What people and programs put in place of a value. */
const others = [null, '', ' ', 'none', 'true', '0s', 0, true, [], {}, [null], [''], { name: '' }, { a: null }];

/** Returns the paths of all values below a value. */
function pathsIn(value: unknown): string[][] {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.flatMap(([key, inner]) => [[key], ...pathsIn(inner).map((path) => [key, ...path])]);
}

/** Returns a copy with another value at a path; undefined removes it. */
function changed(value: unknown, [key = '', ...below]: string[], other: unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...asObject(value) }) as Record<string, unknown>;
  if (below.length > 0) copy[key] = changed(copy[key], below, other);
  else if (other === undefined && !Array.isArray(copy)) delete copy[key];
  else copy[key] = other ?? null;
  return copy;
}

test('no schema refuses what the product accepts, whatever is changed in an example', () => {
  const changeable = valid.filter(([, value]) => pathsIn(value).length > 0);
  const example = fc.constantFrom(...changeable);
  const change = fc.record({ at: fc.nat(), other: fc.constantFrom(undefined, ...others), isNew: fc.boolean() });
  let accepted = 0;
  fc.assert(
    fc.property(example, fc.array(change, { minLength: 1, maxLength: 3 }), ([name, start], changes) => {
      const value = changes.reduce<unknown>((former, { at, other, isNew }) => {
        const paths = pathsIn(former);
        const path = paths[at % Math.max(paths.length, 1)] ?? ['a'];
        return changed(former, isNew ? [...path.slice(0, -1), 'other'] : path, other);
      }, start);
      if (sentences(name, value).length > 0) return;
      accepted++;
      expect(wrongPlaces(name, value)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
  expect(accepted).toBeGreaterThan(100);
});
