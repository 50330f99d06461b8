import { describe, expect, it } from 'vitest';
import { readLandscape } from '../../../shared/config/landscape.ts';
import { type LandscapeValue, landscapeDefinitions } from './landscape-schema.ts';

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
}

const definitions = landscapeDefinitions() as Record<LandscapeValue, Schema>;
const template = { kind: 'GitRepository', spec: { url: 'https://git.example.com/fleet', ref: { branch: 'main' } } };
const pair = { source: { template }, kustomization: { template: { spec: { path: './' } } } };

/** Objects that the product reads, each with the path of its schema. */
const places: [string, LandscapeValue, string[], (unknown: object) => object][] = [
  ['the defaults', 'defaults', [], (unknown) => unknown],
  ['the options of Flux', 'defaults', ['flux'], (flux) => ({ flux })],
  ['a source', 'defaults', ['source'], (unknown) => ({ ...pair, source: { ...pair.source, ...unknown } })],
  [
    'a Kustomization',
    'defaults',
    ['kustomization'],
    (more) => ({ ...pair, kustomization: { ...pair.kustomization, ...more } }),
  ],
  ['the pull secret', 'defaults', ['pullSecret'], (pullSecret) => ({ pullSecret })],
  ['the policy', 'policy', [], (unknown) => unknown],
];

describe.each(places)('in %s', (_, name, path, place) => {
  it('an unknown key is refused by the schema of the charts, as the product refuses it', () => {
    const schema = path.reduce<Schema | undefined>((parent, key) => parent?.properties?.[key], definitions[name]);
    expect(schema).toMatchObject({ additionalProperties: false });
    expect(Object.keys(schema?.properties ?? {})).not.toContain('typo');
    expect(() => readLandscape({ [name]: place({ typo: 'x' }) })).toThrow('typo is not a known key');
    expect(() => readLandscape({ [name]: place({}) })).not.toThrow();
  });
});

it('the keys that only a Shoot can name are not among the defaults', () => {
  expect(definitions.defaults.properties).not.toHaveProperty('additionalSecretResources');
  expect(definitions.defaults.properties?.source?.properties).not.toHaveProperty('secretResourceName');
});
