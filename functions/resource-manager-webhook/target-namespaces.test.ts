// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { expect, it } from 'vitest';
import { targetNamespacesOf } from './handler.ts';

const fluxConfig = (data: Record<string, string>) => ({ namespace: 'garden-foo', data });
const template = (namespace: string | undefined, spec: object, kind?: string) => ({
  template: { ...(kind && { kind }), ...(namespace && { metadata: { namespace } }), spec },
});
const source = (namespace?: string) =>
  template(namespace, { url: 'https://example.com/x', ref: { branch: 'main' } }, 'GitRepository');
const kustomization = (namespace?: string) => template(namespace, { path: './' });
const defaults = { source: source('fleet'), kustomization: kustomization() };
const ofStage = { source: source(), kustomization: template(undefined, { path: './${SHOOT_LABEL_stage}' }) };
const providerConfigHasErrors = 'the providerConfig has errors and is ignored when computing target namespaces; fix it';
const fluxConfigHasErrors =
  'the ConfigMap flux-config has errors and is ignored when computing target namespaces; fix it';

it.each(
  Object.entries<[Parameters<typeof targetNamespacesOf>[0], string[], string[]]>({
    'nothing is configured': [{}, ['flux-system'], []],
    'the ConfigMap names the namespace': [{ fluxConfig: fluxConfig({ namespace: 'flux-x' }) }, ['flux-x'], []],
    'the providerConfig overrides it': [
      { fluxConfig: fluxConfig({ namespace: 'flux-x' }), providerConfig: { flux: { namespace: 'flux-y' } } },
      ['flux-y'],
      [],
    ],
    'templates name their own': [
      { providerConfig: { source: source('sources'), kustomization: kustomization('apps') } },
      ['flux-system', 'sources', 'apps'],
      [],
    ],
    'templates name the same': [
      { providerConfig: { source: source('flux-system'), kustomization: kustomization() } },
      ['flux-system'],
      [],
    ],
    'the providerConfig refers to a Secret that only the Shoot knows': [
      { providerConfig: { flux: { namespace: 'flux-x' }, additionalSecretResources: [{ name: 'sops' }] } },
      ['flux-x'],
      [],
    ],
    'the providerConfig has errors': [
      { fluxConfig: fluxConfig({ namespace: 'flux-x' }), providerConfig: { flux: { namespace: 'flux-y' }, typo: 1 } },
      ['flux-x'],
      [providerConfigHasErrors],
    ],
    'the ConfigMap has errors': [
      { fluxConfig: fluxConfig({ namespace: 'flux-x', typo: '1' }), providerConfig: { flux: { namespace: 'flux-y' } } },
      ['flux-y'],
      [fluxConfigHasErrors],
    ],
    'both have errors': [
      { fluxConfig: fluxConfig({ typo: '1' }), providerConfig: { typo: 1 } },
      ['flux-system'],
      [providerConfigHasErrors],
    ],
    'the providerConfig allows no namespace that the defaults of the landscape use': [
      { landscape: { defaults }, providerConfig: { flux: { watchAllNamespaces: false } } },
      ['flux-system', 'fleet'],
      [providerConfigHasErrors],
    ],
    'the defaults of the landscape use a label that the Shoot lacks': [
      { landscape: { defaults: ofStage }, shoot: { labels: {}, facts: {} }, fluxConfig: fluxConfig({}) },
      ['flux-system'],
      [
        fluxConfigHasErrors,
        "the landscape's configuration has errors and is ignored when computing target namespaces; fix it",
      ],
    ],
    'the providerConfig is not an object': [{ providerConfig: 'x' }, ['flux-system'], [providerConfigHasErrors]],
  }),
)('returns the namespaces when %s', (_, [layers, namespaces, warnings]) => {
  expect(targetNamespacesOf(layers, [])).toEqual({ namespaces, warnings });
});

it('adds to the existing warnings', () => {
  expect(targetNamespacesOf({ providerConfig: 1 }, ['before']).warnings).toEqual(['before', providerConfigHasErrors]);
});
