import { describe, expect, test } from 'vitest';
import { gitRepository, kustomization, withTemplates } from '../config/config.fixtures.ts';
import { effectiveConfig } from '../config/effective-config.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { CrdSchema } from './crd-schema.ts';
import { objectRuleIssues, ruleProblems } from './object-rules.ts';
import type { Release } from './release.ts';

const MESSAGE = 'labels must be set';
const commonMetadata = {
  type: 'object',
  properties: { labels: { type: 'object' } },
  'x-kubernetes-validations': [{ rule: 'has(self.labels)', message: MESSAGE }],
};

/** A release whose CRDs have one rule, for Kustomizations. */
const crd = (group: string, kind: string, properties: object) => {
  const openAPIV3Schema = { properties: { spec: { type: 'object', properties } } };
  return {
    kind: 'CustomResourceDefinition',
    spec: {
      group,
      names: { kind },
      versions: [{ name: 'v1', storage: true, schema: { openAPIV3Schema } }],
    },
  } as unknown as KubeObject;
};
const release = {
  version: 'v2.9.4',
  files: new Map([
    ['source-controller', [crd('source.toolkit.fluxcd.io', 'GitRepository', {})]],
    ['kustomize-controller', [crd('kustomize.toolkit.fluxcd.io', 'Kustomization', { commonMetadata })]],
  ]),
} as unknown as Release;

test('the rules of the root Kustomization are those of its CRD, named where it is written', async () => {
  const broken = { commonMetadata: {} };
  const config = effectiveConfig(withTemplates(gitRepository(), kustomization(broken)));
  const message = `breaks a rule of its kind: ${MESSAGE}; correct it`;
  const path = 'kustomization.template.spec.commonMetadata';
  expect(await objectRuleIssues(config, release)).toEqual([{ object: 'providerConfig', path, message }]);
  const good = effectiveConfig(withTemplates(gitRepository(), kustomization({ commonMetadata: { labels: {} } })));
  expect(await objectRuleIssues(good, release)).toEqual([]);
});

const rules = (...list: [rule: string, message?: string][]) => ({
  'x-kubernetes-validations': list.map(([rule, message]) => ({ rule, ...(message !== undefined && { message }) })),
});
const text: CrdSchema = { type: 'string' };
const sentences = (schema: CrdSchema, value: unknown) =>
  ruleProblems(schema, value, ['spec']).map(({ path, message }) => `${path} ${message}`);

describe('ruleProblems', () => {
  const bucket: CrdSchema = {
    type: 'object',
    properties: { provider: { type: 'string', default: 'generic' }, sts: { type: 'object' }, serviceAccountName: text },
    ...rules(
      ["self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)", 'STS is for two providers'],
      ["self.provider != 'generic' || !has(self.serviceAccountName)", 'no ServiceAccount for\n  the generic provider.'],
    ),
  };

  test('evaluates a rule with the defaults of the CRD, and quotes its message', () => {
    expect(sentences(bucket, {})).toEqual([]);
    expect(sentences(bucket, { provider: 'gcp', sts: {} })).toEqual([
      'spec breaks a rule of its kind: STS is for two providers; correct it',
    ]);
    expect(sentences(bucket, { serviceAccountName: 'a' })).toEqual([
      'spec breaks a rule of its kind: no ServiceAccount for the generic provider; correct it',
    ]);
  });

  test('evaluates rules of fields and of entries', () => {
    const ref = { type: 'object', properties: { a: text, b: text }, ...rules(['has(self.a) || has(self.b)']) };
    const schema: CrdSchema = {
      type: 'object',
      properties: { ref, refs: { type: 'array', items: ref }, count: { type: 'integer', ...rules(['self > 2']) } },
    };
    expect(sentences(schema, { ref: { a: '' }, refs: [{ b: '' }], count: 3 })).toEqual([]);
    expect(sentences(schema, { ref: {}, refs: [{ b: '' }, {}], count: 2 })).toEqual([
      'spec.ref breaks a rule of its kind: it must fulfil has(self.a) || has(self.b); correct it',
      'spec.refs[1] breaks a rule of its kind: it must fulfil has(self.a) || has(self.b); correct it',
      'spec.count breaks a rule of its kind: it must fulfil self > 2; correct it',
    ]);
  });

  test.each([
    ['about a change', 'self == oldSelf'],
    ['with an unknown function', 'quantity(self.a).isGreaterThan(quantity("1"))'],
    ['that cannot be parsed', 'self.a ==== 1'],
    ['that reads a missing field', 'self.missing == "x"'],
    ['that is no condition', 'self.a'],
  ])('leaves a rule %s to the API server', (_, rule) => {
    expect(sentences({ type: 'object', properties: { a: text }, ...rules([rule]) }, { a: '' })).toEqual([]);
  });

  test('leaves texts beyond the limit to the API server: rules read them with regular expressions', () => {
    const schema = { ...text, ...rules(["self.matches('^(a|aa)+$')"]) };
    expect(sentences(schema, 'b')).toHaveLength(1);
    expect(sentences(schema, `${'a'.repeat(100_000)}b`)).toEqual([]);
  });
});
