import { expect, test } from 'vitest';
import { gitRepository, kustomization, withFluxConfig, withTemplates } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { mergeOrigins } from './merge.ts';
import { originOf } from './origins.ts';
import type { ConfigInputs } from './types.ts';

function located(field: string, inputs: ConfigInputs): string {
  const { object, path } = originOf(effectiveConfig(inputs).origins, field);
  return `${object}: ${path}`;
}

const OBJECT = 'ConfigMap garden-foo/flux-config';
const flux = (options: object): ConfigInputs => ({ providerConfig: { flux: options } });
const repository = withFluxConfig({ repositoryUrl: 'https://example.com/fleet', repositoryInterval: '2m' });

test.each<[string, ConfigInputs, string]>([
  ['flux.version', flux({ version: 'v2.9.4' }), 'providerConfig: flux.version'],
  ['flux.version', flux({ version: 'latest' }), 'providerConfig: flux.version'],
  ['flux.version', withFluxConfig({ fluxVersion: 'v2.9.4' }), `${OBJECT}: fluxVersion`],
  ['flux.namespace', withFluxConfig({ namespace: 'a' }), `${OBJECT}: namespace`],
  ['flux.components', flux({ componentsExtra: ['a'] }), 'providerConfig: flux.componentsExtra'],
  ['flux.components[c]', flux({ componentsExtra: ['a', 'b', 'c'] }), 'providerConfig: flux.componentsExtra[2]'],
  [
    'flux.components[b]',
    flux({ components: ['a', 'b', 'b'], componentsExtra: ['c', 'b'] }),
    'providerConfig: flux.components[1]',
  ],
  [
    'flux.components[b]',
    { ...flux({ components: ['a'] }), ...withFluxConfig({ componentsExtra: 'c, b' }) },
    `${OBJECT}: componentsExtra`,
  ],
  [
    'flux.components[b]',
    { ...flux({ componentsExtra: ['b'] }), ...withFluxConfig({ components: 'a, b' }) },
    'providerConfig: flux.componentsExtra[0]',
  ],
  [
    'flux.components[b]',
    { ...flux({ components: ['a'] }), ...withFluxConfig({ components: 'b', componentsExtra: 'b' }) },
    `${OBJECT}: componentsExtra`,
  ],
  ['flux.components[b]', { providerConfig: null }, 'configuration: flux.components'],
  ['flux.components[b]', flux({ components: ['a'] }), 'configuration: flux.components'],
  ['flux.version', flux({ version: null }), 'configuration: flux.version'],
  ['flux.version', { ...flux({ version: '' }), ...withFluxConfig({ fluxVersion: '2.x' }) }, `${OBJECT}: fluxVersion`],
  ['flux.version', { providerConfig: { flux: null } }, 'configuration: flux.version'],
  ['flux.version', { providerConfig: null, ...withFluxConfig({}) }, 'configuration: flux.version'],
  ['flux.frob', {}, 'configuration: flux.frob'],
  ['flux.version', {}, 'configuration: flux.version'],
  ['source.spec.verify', withTemplates(gitRepository()), 'providerConfig: source.template.spec.verify'],
  [
    'source.spec.include[0].repository',
    withTemplates(gitRepository()),
    'providerConfig: source.template.spec.include[0].repository',
  ],
  [
    'kustomization.spec.dependsOn[0].name',
    {
      ...repository,
      providerConfig: { kustomization: { patch: { spec: { dependsOn: [{ name: 'a' }] } } } },
    },
    'providerConfig: kustomization.patch.spec.dependsOn[0].name',
  ],
  ['kustomization.spec.prune', withTemplates(gitRepository()), 'providerConfig: kustomization.template.spec.prune'],
  ['source.spec.url', repository, `${OBJECT}: repositoryUrl`],
  ['source.spec.interval', repository, `${OBJECT}: repositoryInterval`],
  ['kustomization.spec.path', repository, 'configuration: kustomization.spec.path'],
])('locates %s of %j at %s', (field, inputs, where) => {
  expect(located(field, inputs)).toBe(where);
});

test('names the providerConfig for its source, and the ConfigMap still for its Kustomization', () => {
  const keys = { repositoryUrl: 'https://example.com/fleet', repositoryPath: './a' };
  const { source } = withTemplates(gitRepository(), kustomization()).providerConfig as { source: object };
  const { origins } = effectiveConfig({ ...withFluxConfig(keys), providerConfig: { source } });
  expect(origins).toEqual({
    'kustomization.spec.path': { object: OBJECT, path: 'repositoryPath' },
    source: { object: 'providerConfig', path: 'source.template' },
  });
});

test('merges any number of layers field by field', () => {
  const layer = (object: string, ...fields: string[]) =>
    Object.fromEntries(fields.map((path) => [path, { object, path }]));
  const merged = mergeOrigins([
    layer('one', 'flux.version', 'flux.components', 'flux.components[a]', 'suspend', 'source.spec.url'),
    layer('two', 'flux.components', 'flux.components[b]', 'suspend', 'source'),
    layer('three', 'suspend'),
  ]);
  expect(merged).toEqual({
    ...layer('one', 'flux.version'),
    ...layer('two', 'flux.components', 'flux.components[b]', 'source'),
    ...layer('three', 'suspend'),
  });
});
