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
const ofProject = { fluxConfig: fluxConfig({ namespace: 'flux-x' }) };
const ofShoot = { flux: { namespace: 'flux-y' } };
const hasErrors = (what: string) => `${what} has errors and is ignored when computing target namespaces; fix it`;
const providerConfigHasErrors = hasErrors('the providerConfig');
const fluxConfigHasErrors = hasErrors('the ConfigMap flux-config');

const ofTemplates = { source: source('sources'), kustomization: kustomization('apps') };
const withSecret = { flux: { namespace: 'flux-x' }, additionalSecretResources: [{ name: 'sops' }] };
const addons = {
  backup: { objects: [{ ...source('backups').template, metadata: { name: 'b', namespace: 'backups' } }] },
};
const strict = { flux: { watchAllNamespaces: false } };

it.each<[string, Parameters<typeof targetNamespacesOf>[0], string[], string[]?]>([
  ['nothing is configured', {}, ['flux-system']],
  ['the ConfigMap names the namespace', ofProject, ['flux-x']],
  ['the providerConfig overrides it', { ...ofProject, providerConfig: ofShoot }, ['flux-y']],
  ['templates name their own', { providerConfig: ofTemplates }, ['flux-system', 'sources', 'apps']],
  [
    'templates name the same',
    { providerConfig: { source: source('flux-system'), kustomization: kustomization() } },
    ['flux-system'],
  ],
  ['the providerConfig refers to a Secret that only the Shoot knows', { providerConfig: withSecret }, ['flux-x']],
  [
    'the providerConfig has errors',
    { ...ofProject, providerConfig: { ...ofShoot, typo: 1 } },
    ['flux-x'],
    [providerConfigHasErrors],
  ],
  [
    'the ConfigMap has errors',
    { fluxConfig: fluxConfig({ namespace: 'flux-x', typo: '1' }), providerConfig: ofShoot },
    ['flux-y'],
    [fluxConfigHasErrors],
  ],
  [
    'the landscape has an addon with objects elsewhere',
    { ...ofProject, landscape: { addons }, providerConfig: { addons: ['backup'] } },
    ['flux-x', 'backups'],
  ],
  [
    'an addon is refused',
    { ...ofProject, landscape: { addons }, providerConfig: { addons: ['backup', 'gone'] } },
    ['flux-x'],
    ['an addon is refused, and all are ignored when computing target namespaces; remove it from the list'],
  ],
  [
    'both have errors',
    { fluxConfig: fluxConfig({ typo: '1' }), providerConfig: { typo: 1 } },
    ['flux-system'],
    [providerConfigHasErrors],
  ],
  [
    'the providerConfig allows no namespace that the defaults of the landscape use',
    { landscape: { defaults }, providerConfig: strict },
    ['flux-system', 'fleet'],
    [providerConfigHasErrors],
  ],
  [
    'the defaults of the landscape use a label that the Shoot lacks',
    { landscape: { defaults: ofStage }, shoot: { labels: {}, facts: {} }, fluxConfig: fluxConfig({}) },
    ['flux-system'],
    [fluxConfigHasErrors, hasErrors("the landscape's configuration")],
  ],
  ['the providerConfig is not an object', { providerConfig: 'x' }, ['flux-system'], [providerConfigHasErrors]],
])('returns the namespaces when %s', (_, layers, namespaces, warnings = []) => {
  expect(targetNamespacesOf(layers, [])).toEqual({ namespaces, warnings });
});

it('adds to the existing warnings', () => {
  expect(targetNamespacesOf({ providerConfig: 1 }, ['before']).warnings).toEqual(['before', providerConfigHasErrors]);
});
