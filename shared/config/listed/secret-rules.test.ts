import { describe, expect, it, test } from 'vitest';
import { issueText } from '../../errors.ts';
import {
  gitRepository,
  helmRelease,
  helmRepository,
  kustomization,
  withConfig,
  withTemplates,
} from '../config.fixtures.ts';
import { effectiveConfig } from '../effective-config.ts';
import type { ConfigInputs } from '../types.ts';

const decryptsWith = (name: string) => ({ decryption: { provider: 'sops', secretRef: { name } } });

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
        mayBeElsewhere: true,
      },
      {
        object: 'providerConfig',
        path: 'kustomization.template.spec.decryption.secretRef',
        message: 'names Secret "age-kye" in namespace flux-system, which is not copied there; did you mean age-key?',
        mayBeElsewhere: true,
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
        mayBeElsewhere: true,
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

/** Returns the warnings of a configuration, without those parts of the sentences that say what to do. */
function undelivered(fields: object): string[] {
  const { warnings = [] } = effectiveConfig(withConfig(fields));
  return warnings.map((issue) => issueText(issue).replace(/^providerConfig: |, which is not copied there;.*/g, ''));
}

describe('one rule for the short form and for lists:', () => {
  const kubeConfig = (kind: string) => ({ [kind]: { name: 'remote' } });
  const substituteFrom = [
    { kind: 'Secret', name: 'variables' },
    { kind: 'ConfigMap', name: 'shoot-facts' },
    { kind: 'ConfigMap', name: 'more', optional: true },
  ];

  it.each<[string, object, object, string]>([
    [
      'signatures',
      { verify: { mode: 'HEAD', secretRef: { name: 'keys' } } },
      {},
      'source#.verify.secretRef names Secret "keys"',
    ],
    ['a proxy', { proxySecretRef: { name: 'proxy' } }, {}, 'source#.proxySecretRef names Secret "proxy"'],
    ['decryption', {}, decryptsWith('age'), 'kustomization#.decryption.secretRef names Secret "age"'],
    [
      'a remote cluster',
      {},
      { kubeConfig: kubeConfig('secretRef') },
      'kustomization#.kubeConfig.secretRef names Secret "remote"',
    ],
    [
      'its ConfigMap',
      {},
      { kubeConfig: kubeConfig('configMapRef') },
      'kustomization#.kubeConfig.configMapRef names ConfigMap "remote"',
    ],
    [
      'variables',
      {},
      { postBuild: { substituteFrom } },
      'kustomization#.postBuild.substituteFrom[0] names Secret "variables"',
    ],
  ])('%s', (_what, source, spec, expected) => {
    const entries = [{ template: gitRepository(source) }, { template: kustomization(spec) }] as const;
    const at = (entry: string) => [`${expected.replace('#', `${entry}.template.spec`)} in namespace flux-system`];
    expect(undelivered({ source: entries[0], kustomization: entries[1] })).toEqual(at(''));
    expect(undelivered({ sources: [entries[0]], kustomizations: [entries[1]] })).toEqual(at('s[0]'));
  });

  it('charts', () => {
    const release = helmRelease('podinfo', 'charts', { valuesFrom: [{ kind: 'Secret', name: 'values' }] });
    expect(undelivered({ objects: [helmRepository('charts'), release] })).toEqual([
      'objects[1].spec.valuesFrom[0] names Secret "values" in namespace flux-system',
    ]);
  });
});

describe('patches of the installation', () => {
  const target = { kind: 'Deployment' };
  const warningsOf = (patch: unknown, fields: object = {}) =>
    undelivered({ ...fields, flux: { patches: [{ target, patch: JSON.stringify(patch) }] } });
  const add = (path: string, value: unknown) => [{ op: 'add', path: `/spec/template/spec/${path}`, value }];
  const pod = (spec: object) => ({ kind: 'Deployment', metadata: { name: 'a' }, spec: { template: { spec } } });
  const env = (entry: object) => pod({ containers: [{ name: 'manager', env: [{ name: 'A', ...entry }] }] });
  const envFrom = (...entries: object[]) => pod({ containers: [{ name: 'manager', envFrom: entries }] });
  const ref = { name: 'x' };

  it.each<[string, unknown, string[]]>([
    ['a volume', pod({ volumes: [{ name: 'a', secret: { secretName: 'x' } }] }), ['Secret']],
    ['a volume that is added', add('volumes/-', { name: 'a', configMap: ref }), ['ConfigMap']],
    ['the name in a volume', add('volumes/0/secret/secretName', 'x'), ['Secret']],
    [
      'a projected volume',
      add('volumes/-', { projected: { sources: [{ secret: ref }, { configMap: ref }] } }),
      ['Secret', 'ConfigMap'],
    ],
    ['all variables', envFrom({ secretRef: ref }, { configMapRef: ref }), ['Secret', 'ConfigMap']],
    ['variables that are added', add('containers/0/envFrom', [{ secretRef: ref }]), ['Secret']],
    ['one variable', env({ valueFrom: { secretKeyRef: { ...ref, key: 'a' } } }), ['Secret']],
    ['one of a ConfigMap', env({ valueFrom: { configMapKeyRef: { ...ref, key: 'a' } } }), ['ConfigMap']],
    ['a pull secret', add('imagePullSecrets', [ref]), ['Secret']],
    ['another pull secret', pod({ imagePullSecrets: [ref] }), ['Secret']],
  ])('name: %s', (_what, patch, kinds) => {
    expect(warningsOf(patch)).toEqual(
      kinds.map((kind) => `flux.patches[0] names ${kind} "x" in namespace flux-system`),
    );
    expect(warningsOf(patch, { existingSecrets: ['x'], existingConfigMaps: ['x'] })).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['what may be missing', envFrom({ secretRef: { ...ref, optional: true } })],
    ['what is optional in a volume', add('volumes/-', { secret: { secretName: 'x', optional: true } })],
    ['what a patch removes', pod({ imagePullSecrets: [{ ...ref, $patch: 'delete' }] })],
    ['other fields', add('containers/-', { name: 'secret', image: 'x' })],
    ['our own ConfigMaps', envFrom({ configMapRef: { name: 'shoot-facts' } })],
    ['no object', 'secret'],
  ])('do not need: %s', (_what, patch) => {
    expect(warningsOf(patch)).toEqual([]);
  });
});
