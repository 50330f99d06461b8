import { expect, test } from 'vitest';
import { kustomization, ociRepository, withFluxConfig } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { isTargetNamespaceOpen, targetNamespaceOf, withFormerNamespace } from './target-namespace.ts';
import type { ConfigInputs } from './types.ts';

const keys = (data: Record<string, string> = {}) =>
  withFluxConfig({ repositoryUrl: 'https://github.com/org/fleet', ...data });
const inProject = (config: object) => keys({ 'config.yaml': JSON.stringify(config) });
const inShoot = (config: object): ConfigInputs => ({ ...keys(), providerConfig: config });
const patch = (spec: object) => ({ kustomization: { patch: { spec } } });
const template = { kustomization: { template: kustomization({}, { metadata: { name: 'main-ks' } }) } };

test.each<[string, ConfigInputs, expected: string | undefined, whereFormerRuns: string | undefined]>([
  ['keys', keys(), undefined, 'default'],
  ['an empty key', keys({ kustomizationTargetNamespace: ' ' }), undefined, 'default'],
  ['the key', keys({ kustomizationTargetNamespace: 'apps' }), 'apps', 'apps'],
  ['the key with default', keys({ kustomizationTargetNamespace: 'default' }), 'default', 'default'],
  ['the key with none', keys({ kustomizationTargetNamespace: 'none' }), undefined, undefined],
  ['a patch of another field', inProject(patch({ path: './b' })), undefined, 'default'],
  ['a patch with null', inProject(patch({ targetNamespace: null })), undefined, undefined],
  ['a patch', inProject(patch({ targetNamespace: 'apps' })), 'apps', 'apps'],
  ['a patch of the Shoot with null', inShoot(patch({ targetNamespace: null })), undefined, undefined],
  [
    'a patch of the Shoot over the key',
    { ...inShoot(patch({ targetNamespace: 'b' })), ...keys({ kustomizationTargetNamespace: 'a' }) },
    'b',
    'b',
  ],
  ['a template', inProject(template), undefined, undefined],
  ['a list', inProject({ kustomizations: [template.kustomization] }), undefined, undefined],
  ['a template of the Shoot', inShoot(template), undefined, undefined],
  ['a source of the Shoot', inShoot({ source: { template: ociRepository() } }), undefined, 'default'],
  ['no repository', withFluxConfig({ logLevel: 'debug' }), undefined, undefined],
])('with %s', (_, inputs, expected, whereFormerRuns) => {
  const config = effectiveConfig(inputs);
  expect(targetNamespaceOf(config.kustomization)).toBe(expected);
  expect(targetNamespaceOf(withFormerNamespace(config).kustomization)).toBe(whereFormerRuns);
  expect(isTargetNamespaceOpen(config)).toBe(expected !== whereFormerRuns);
});
