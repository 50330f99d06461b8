import { describe, expect, it, test } from 'vitest';
import { gitRepository, kustomization, problems, withConfig, withTemplates } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import type { ConfigInputs, FluxInstall } from './types.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
const NAME_RULE = "use at most 20 lowercase letters, digits and '-', starting and ending with a letter or digit";
const OWN_DOMAIN =
  'which belongs to Kubernetes, Gardener, Flux or Helm; use a key of your own domain, for example example.com/team';

/** The only sentence about an option -> the option. */
const wrong: Record<string, object> = {
  'size "huge" is not a valid value; use one of small, medium, large': { size: 'huge' },
  'imageDigests "always" is not a valid value; did you mean Always?': { imageDigests: 'always' },
  "priorityClass \"Very High\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit":
    { priorityClass: 'Very High' },
  'proxy.http "proxy:3128" is not the URL of a proxy; use a form like http://proxy.example.com:3128': {
    proxy: { http: 'proxy:3128' },
  },
  'proxy.https "http://proxy/$(HOME)" is not the URL of a proxy; use a form like http://proxy.example.com:3128': {
    proxy: { https: 'http://proxy/$(HOME)' },
  },
  'proxy.https contains credentials, which anyone can read here; put the URL into a Secret under the key HTTP_PROXY or HTTPS_PROXY, and set secretName':
    { proxy: { https: 'http://me:geheim@proxy.example.com' } },
  'proxy.noProxy "a b" is not a list of hosts; separate domains, addresses and address ranges with commas, as in .example.com,10.0.0.0/8':
    { proxy: { noProxy: 'a b' } },
  'proxy.secretName excludes http and https, which the Secret contains; remove them or secretName': {
    proxy: { http: 'http://a', secretName: 'b' },
  },
  'storage.size is missing; set it, for example 10Gi': { storage: {} },
  'storage.size "10 GB" is not a size; use a number with Mi, Gi or Ti, for example 10Gi': {
    storage: { size: '10 GB' },
  },
  'sharding.shards is missing; set it, for example shard1, shard2': { sharding: {} },
  [`sharding.shards[0] "A" is not a valid name of a shard; ${NAME_RULE}`]: { sharding: { shards: ['A'] } },
  'sharding.shards has 17 entries; use at most 16': { sharding: { shards: names(17) } },
  'nodeSelector "a b" is not a valid label or annotation key; use a form like example.com/team': {
    nodeSelector: { 'a b': 'c' },
  },
  'nodeSelector has 101 entries; use at most 100': {
    nodeSelector: Object.fromEntries(names(101).map((name) => [name, ''])),
  },
  [`commonMetadata.labels has the key "app.kubernetes.io/part-of", ${OWN_DOMAIN}`]: {
    commonMetadata: { labels: { 'app.kubernetes.io/part-of': 'mine' } },
  },
  [`commonMetadata.annotations has the key "Resources.Gardener.Cloud/ignore", ${OWN_DOMAIN}`]: {
    commonMetadata: { annotations: { 'Resources.Gardener.Cloud/ignore': 'true' } },
  },
  'sopsAgeSecret has no effect without a Kustomization; configure a source and a kustomization, or remove it': {
    sopsAgeSecret: 'sops-age',
  },
};

test.each(Object.entries(wrong))('%s', (sentence, flux) => {
  expect(problems(withConfig({ flux }))).toEqual([`providerConfig: flux.${sentence}`]);
});

describe('in the effective configuration', () => {
  const options: Partial<FluxInstall> = {
    size: 'large',
    priorityClass: 'high',
    imageDigests: 'Never',
    nodeSelector: { pool: 'infra' },
    commonMetadata: { labels: { team: 'a' } },
    proxy: { secretName: 'proxy', noProxy: '.example.com' },
    storage: { size: '1Gi', class: 'fast' },
    sharding: { shards: ['a', 'b'] },
    multiTenancy: true,
    tenantDefaultServiceAccount: 'tenant',
  };

  it('the options are what a FluxConfig says', () => {
    expect(effectiveConfig(withConfig({ flux: options })).flux).toMatchObject(options);
  });

  it('the root Kustomization decrypts with sopsAgeSecret', () => {
    const decryption = (spec: object) =>
      effectiveConfig(withTemplates(gitRepository(), kustomization(spec), { flux: { sopsAgeSecret: 'sops-age' } }))
        .kustomization?.spec;
    expect(decryption({})).toMatchObject({ decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } });
    const own = { provider: 'sops', secretRef: { name: 'own' } };
    expect(decryption({ decryption: own })).toMatchObject({ decryption: own });
  });
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

  it.each([
    ['is copied', { additionalSecretResources: [{ name: 'age', targetName: 'age-kye' }] }],
    ['is said to exist', { existingSecrets: ['age-kye'] }],
  ])('has none if it %s', (_, fields) => {
    expect(warningsOf(fields)).toBeUndefined();
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
