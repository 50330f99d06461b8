import { expect, it } from 'vitest';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { fluxConfigFields } from '../../../shared/config/flux-config.ts';
import { flux, fluxConfig, https, providerConfig, released } from './examples.testing.ts';
import type { Origin } from './places.ts';
import { remediesFor } from './remedies.ts';

/** Returns an object that has the field, and all places that remedies for it may name. */
function placesFor(field: string, origin: Origin): string[] {
  const [part, , name = '', inner] = field.split('.');
  const value = inner === undefined ? 'x' : { [inner]: 'x' };
  const object =
    part === 'source'
      ? flux('source', 'GitRepository', 'main-gitrepo', { url: https, [name]: value })
      : flux('kustomize', 'Kustomization', 'main-ks', { [name]: value });
  return Object.values(remediesFor(object, origin).places);
}

const fields = Object.entries(fluxConfigFields).filter(([, field]) => /^(source|kustomization)\./.test(field));

it.each(fields)('name %s for %s', (key, field) => {
  expect(placesFor(field, fluxConfig)).toContain(`${key} in ConfigMap flux-config`);
});

it.each(fields)('name no key of flux-config instead of %s if the configuration is elsewhere', (_, field) => {
  const places = [...placesFor(field, providerConfig), ...placesFor(field, released)];
  expect(places.filter((place) => place.includes('flux-config'))).toEqual([]);
});

it('name suspend in flux-config for sources and Kustomizations', () => {
  for (const field of ['source.spec.url', 'kustomization.spec.path']) {
    expect(placesFor(field, fluxConfig)).toContain('suspend in ConfigMap flux-config');
  }
});

it('name the place in config.yaml, overrides.yaml or a list where the object is written', () => {
  const object = 'ConfigMap garden-foo/flux-config';
  const origin = { ...providerConfig, place: { object, path: 'config.yaml.source.template' } };
  expect(placesFor('source.spec.url', origin)).toContain(`config.yaml.source.template.spec.url of ${object}`);
});

it('name the addon that brings the object', () => {
  const origin = { ...providerConfig, place: { object: 'addon charts', path: 'objects[0]' } };
  expect(placesFor('source.spec.url', origin)).toContain('objects[0].spec.url of addon charts of the landscape');
});

it('name certSecretRef for the certificate of an authority, except for Git repositories', () => {
  const authorityOf = (kind: string, spec: object, origin: Origin) =>
    remediesFor(flux('source', kind, 'a', { secretRef: { name: 'login' }, ...spec }), origin).authority;
  const place = { object: 'providerConfig', path: 'objects[1]' };
  const listed = { ...providerConfig, place };
  expect(authorityOf('GitRepository', {}, listed)).toBe('the original of Secret flux-system/login');
  expect(authorityOf('OCIRepository', { certSecretRef: { name: 'ca' } }, listed)).toBe(
    'the original of Secret flux-system/ca',
  );
  expect(authorityOf('Bucket', {}, listed)).toContain('objects[1].spec.certSecretRef of the providerConfig');
  expect(authorityOf('OCIRepository', {}, providerConfig)).toContain('source.template.spec.certSecretRef of');
  expect(authorityOf('OCIRepository', {}, released)).toContain('spec.certSecretRef of OCIRepository flux-system/a');
});

it('name the patch that sets what flux-config has no key for', async () => {
  const { timeout } = remediesFor(flux('kustomize', 'Kustomization', 'main-ks', {}), fluxConfig).places;
  expect(timeout).toBe('kustomization.patch.spec.timeout in config.yaml of ConfigMap flux-config');
  const data = { repositoryUrl: https, 'config.yaml': 'kustomization: { patch: { spec: { timeout: 10m } } }' };
  const configMap = { namespace: 'garden-foo', data };
  expect(effectiveConfig({ fluxConfig: configMap }).kustomization?.spec).toMatchObject({ timeout: '10m' });
});

it.each([
  ['flux-config', fluxConfig],
  ['a providerConfig', providerConfig],
  ['a list', { ...providerConfig, place: { object: 'providerConfig', path: 'objects[1]' } }],
  ['a released object', released],
])('name the Secret of the project that has wired itself, beside %s', (_, origin) => {
  const decryption = { provider: 'sops', secretRef: { name: 'flux-sops' } };
  const { decryption: keys } = remediesFor(flux('kustomize', 'Kustomization', 'main-ks', { decryption }), origin);
  expect(keys).toBe("Secret flux-sops in the project's namespace");
});

it('name the original of a Secret with keys, which a patch in config.yaml may name', () => {
  const decryption = { provider: 'sops', secretRef: { name: 'sops-age' } };
  const { decryption: keys } = remediesFor(flux('kustomize', 'Kustomization', 'main-ks', { decryption }), fluxConfig);
  expect(keys).toBe('Secret flux-system/sops-age in the shoot (or its original, if it is a copy)');
});

it('name the Secret of the project in place of a secretResourceName that is not set', () => {
  const oci = { url: 'oci://ghcr.io/org/fleet', secretRef: { name: 'flux-registry' } };
  const { credentials } = remediesFor(flux('source', 'OCIRepository', 'fleet', oci), providerConfig);
  expect(credentials).toContain("into Secret flux-registry in the project's namespace");
});

it('name ca.crt of flux-registry as the place for the certificate of a registry whose credentials it has', () => {
  const authorityOf = (kind: string, spec: object, origin: Origin) =>
    remediesFor(flux('source', kind, 'fleet', { secretRef: { name: 'flux-registry' }, ...spec }), origin).authority;
  const place = { object: 'providerConfig', path: 'objects[1]' };
  const ofProject = "Secret flux-registry in the project's namespace";
  for (const origin of [fluxConfig, providerConfig, { ...providerConfig, place }]) {
    expect(authorityOf('OCIRepository', {}, origin)).toBe(ofProject);
    expect(authorityOf('HelmRepository', { type: 'oci' }, origin)).toBe(ofProject);
    expect(authorityOf('ImageRepository', { certSecretRef: { name: 'flux-registry-ca' } }, origin)).toBe(ofProject);
  }
  // It is not filled in there.
  expect(authorityOf('OCIRepository', {}, released)).toContain('spec.certSecretRef of OCIRepository');
  expect(authorityOf('ImageRepository', {}, { ...providerConfig, place })).toContain('objects[1].spec.certSecretRef');
});

it('name the patch that sets a field', () => {
  const patch = { object: 'providerConfig', path: 'kustomization.patch.spec.path' };
  const origin = { ...fluxConfig, patched: { 'spec.path': patch } };
  const places = placesFor('kustomization.spec.path', origin);
  expect(places).toContain('kustomization.patch.spec.path of the providerConfig');
  expect(places).toContain('kustomizationInterval in ConfigMap flux-config');
});
