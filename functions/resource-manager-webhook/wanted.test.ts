import { expect, it } from 'vitest';
import { wantedOf } from './wanted.ts';

const fluxConfig = (data: Record<string, string>) => ({ namespace: 'garden-foo', data });
const template = (namespace: string | undefined, spec: object, kind?: string) => ({
  template: { ...(kind && { kind }), ...(namespace && { metadata: { namespace } }), spec },
});
const source = (namespace?: string) =>
  template(namespace, { url: 'https://example.com/x', ref: { branch: 'main' } }, 'GitRepository');
const kustomization = (namespace?: string) => template(namespace, { path: './' });
const providerConfigHasErrors = 'the providerConfig has errors, and only the rest counts';
const fluxConfigHasErrors = 'the ConfigMap flux-config has errors, and only the rest counts';

it.each<[string, Parameters<typeof wantedOf>[0], string[], string[]]>([
  ['nothing is configured', {}, ['flux-system'], []],
  ['the ConfigMap names the namespace', { fluxConfig: fluxConfig({ namespace: 'flux-x' }) }, ['flux-x'], []],
  [
    'the providerConfig overrides it',
    { fluxConfig: fluxConfig({ namespace: 'flux-x' }), providerConfig: { flux: { namespace: 'flux-y' } } },
    ['flux-y'],
    [],
  ],
  [
    'templates name their own',
    { providerConfig: { source: source('sources'), kustomization: kustomization('apps') } },
    ['flux-system', 'sources', 'apps'],
    [],
  ],
  [
    'templates name the same',
    { providerConfig: { source: source('flux-system'), kustomization: kustomization() } },
    ['flux-system'],
    [],
  ],
  [
    'a Secret is referred to that only the Shoot knows',
    { providerConfig: { flux: { namespace: 'flux-x' }, additionalSecretResources: [{ name: 'sops' }] } },
    ['flux-x'],
    [],
  ],
  [
    'the providerConfig is wrong',
    { fluxConfig: fluxConfig({ namespace: 'flux-x' }), providerConfig: { flux: { namespace: 'flux-y' }, typo: 1 } },
    ['flux-x'],
    [providerConfigHasErrors],
  ],
  [
    'the ConfigMap is wrong',
    { fluxConfig: fluxConfig({ namespace: 'flux-x', typo: '1' }), providerConfig: { flux: { namespace: 'flux-y' } } },
    ['flux-y'],
    [fluxConfigHasErrors],
  ],
  [
    'both are wrong',
    { fluxConfig: fluxConfig({ typo: '1' }), providerConfig: { typo: 1 } },
    ['flux-system'],
    [providerConfigHasErrors],
  ],
  ['the providerConfig is no object', { providerConfig: 'x' }, ['flux-system'], [providerConfigHasErrors]],
])('when %s', (_, layers, namespaces, doubts) => {
  expect(wantedOf(layers, [])).toEqual({ namespaces, doubts });
});

it('adds to the doubts there are', () => {
  expect(wantedOf({ providerConfig: 1 }, ['before']).doubts).toEqual(['before', providerConfigHasErrors]);
});
