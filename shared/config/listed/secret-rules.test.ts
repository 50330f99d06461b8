import { describe, expect, it, test } from 'vitest';
import { gitRepository, kustomization, withTemplates } from '../config.fixtures.ts';
import { effectiveConfig } from '../effective-config.ts';
import type { ConfigInputs } from '../types.ts';

test('the root Kustomization decrypts with sopsAgeSecret', () => {
  const decryption = (spec: object) =>
    effectiveConfig(withTemplates(gitRepository(), kustomization(spec), { flux: { sopsAgeSecret: 'sops-age' } }))
      .kustomization?.spec;
  expect(decryption({})).toMatchObject({ decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } });
  const own = { provider: 'sops', secretRef: { name: 'own' } };
  expect(decryption({ decryption: own })).toMatchObject({ decryption: own });
});

describe('a Secret that the source or the Kustomization names', () => {
  const decrypts = { decryption: { provider: 'sops', secretRef: { name: 'age-kye' } } };
  const warningsOf = (fields: object, source = {}, spec: object = decrypts) =>
    effectiveConfig(withTemplates(gitRepository(source), kustomization(spec), fields)).warnings;

  it('has a warning if nothing copies it into the shoot', () => {
    const copies = { additionalSecretResources: [{ name: 'age', targetName: 'age-key' }] };
    expect(warningsOf(copies, { proxySecretRef: { name: 'proxy' } })).toEqual([
      {
        object: 'providerConfig',
        path: 'source.template.spec.proxySecretRef',
        message:
          'names Secret "proxy" in namespace flux-system, which is not copied there; copy it with additionalSecretResources, or list it in existingSecrets if it comes from elsewhere',
      },
      {
        object: 'providerConfig',
        path: 'kustomization.template.spec.decryption.secretRef',
        message: 'names Secret "age-kye" in namespace flux-system, which is not copied there; did you mean age-key?',
      },
    ]);
  });
});

describe('a Secret that an option names', () => {
  const proxy = { proxy: { secretName: 'proxy' } };
  const warningsOf = (fields: object, shootResources?: ConfigInputs['shootResources']) =>
    effectiveConfig({ ...withTemplates(gitRepository(), kustomization(), fields), shootResources }).warnings;

  it('has a warning if nothing copies it into the shoot', () => {
    expect(warningsOf({ flux: { ...proxy, sopsAgeSecret: 'keys' } })).toEqual([
      {
        object: 'providerConfig',
        path: 'flux.proxy.secretName',
        message:
          '"proxy" is not copied into the shoot; add it to additionalSecretResources, or create it in flux-system and list it in existingSecrets',
      },
      expect.objectContaining({ path: 'flux.sopsAgeSecret', message: expect.stringMatching(/^"keys" is not copied/) }),
    ]);
  });

  it.each<[string, object, ConfigInputs['shootResources']?]>([
    ['is copied under its name', { additionalSecretResources: [{ name: 'a', targetName: 'proxy' }] }],
    [
      'is copied under its own name',
      { additionalSecretResources: [{ name: 'a' }] },
      [{ name: 'a', kind: 'Secret', apiVersion: 'v1', resourceName: 'proxy' }],
    ],
    ['may be a copy whose name is unknown here', { additionalSecretResources: [{ name: 'a' }] }],
    ['is said to exist', { existingSecrets: ['proxy'] }],
    ['is said to exist in its namespace', { existingSecrets: ['flux-system/proxy'] }],
  ])('has none if it %s', (_, fields, shootResources) => {
    expect(warningsOf({ flux: proxy, ...fields }, shootResources)).toBeUndefined();
  });

  it('has one if another Secret is copied, or it is copied into another namespace', () => {
    const other = { additionalSecretResources: [{ name: 'a', targetName: 'other' }], existingSecrets: ['apps/proxy'] };
    expect(warningsOf({ flux: proxy, ...other })).toHaveLength(1);
  });
});
