import { expect, test } from 'vitest';
import { gitRepository, kustomization, withTemplates } from '../config/config.fixtures.ts';
import { effectiveConfig } from '../config/effective-config.ts';
import type { KubeObject } from '../kube/resource.ts';
import { objectRuleIssues } from './object-rules.ts';
import type { Release } from './release.ts';

const MESSAGE = 'labels must be set';
const commonMetadata = {
  type: 'object',
  properties: { labels: { type: 'object' } },
  'x-kubernetes-validations': [{ rule: 'has(self.labels)', message: MESSAGE }],
};

/** A release whose CRDs have one rule, for Kustomizations. */
const crd = (group: string, kind: string, properties: object) =>
  ({
    kind: 'CustomResourceDefinition',
    spec: {
      group,
      names: { kind },
      versions: [
        {
          name: 'v1',
          storage: true,
          schema: { openAPIV3Schema: { properties: { spec: { type: 'object', properties } } } },
        },
      ],
    },
  }) as unknown as KubeObject;
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
  expect(await objectRuleIssues(config, release)).toEqual([
    {
      object: 'providerConfig',
      path: 'kustomization.template.spec.commonMetadata',
      message: `breaks a rule of its kind: ${MESSAGE}; correct it`,
    },
  ]);
  const good = effectiveConfig(withTemplates(gitRepository(), kustomization({ commonMetadata: { labels: {} } })));
  expect(await objectRuleIssues(good, release)).toEqual([]);
});
