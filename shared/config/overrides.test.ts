import { describe, expect, it, test } from 'vitest';
import type { KubeObject } from '../kube/resource.ts';
import { git, gitRepository, kustomization, problems, withConfig, withFluxConfig } from './config.fixtures.ts';
import { effectiveConfig, projectLayers } from './effective-config.ts';
import { documentsOf } from './flux-config-map.ts';
import type { ConfigInputs } from './types.ts';

const namespace = 'garden-foo';
const object = `ConfigMap ${namespace}/flux-config`;
const repository = { repositoryUrl: 'https://github.com/org/fleet', repositoryPath: './clusters/all' };

/** Returns inputs with a ConfigMap whose YAML is read. */
function inputs(data: Record<string, string>, labels: Record<string, string> = {}): ConfigInputs {
  return { fluxConfig: { namespace, data }, shoot: { labels } };
}

const overrides = `
- selector: { matchLabels: { stage: dev } }
  config:
    flux: { logLevel: debug, version: 2.8.x }
    kustomization: { patch: { spec: { path: ./clusters/dev } } }
- selector: { matchExpressions: [{ key: region, operator: In, values: [eu, us] }] }
  config:
    flux: { logLevel: error }
`;

describe('config.yaml', () => {
  it('is a whole FluxConfig above the other keys', () => {
    const config = effectiveConfig(
      inputs({
        ...repository,
        'config.yaml':
          'flux: { logLevel: debug }\nkustomization: { patch: { spec: { prune: false } } }\nsyncMode: Reconcile',
      }),
    );
    expect(config).toMatchObject({
      flux: { logLevel: 'debug' },
      syncMode: 'Reconcile',
      source: { metadata: { name: 'main-gitrepo' } },
      kustomization: { metadata: { name: 'main-ks' }, spec: { path: './clusters/all', prune: false } },
    });
    expect(config.origins['flux.logLevel']).toEqual({ object, path: 'config.yaml.flux.logLevel' });
  });

  it('an option with keys of its own, or a list, is taken as a whole from the highest layer', () => {
    const yaml = 'flux: { proxy: { https: "http://p.example:1" }, nodeSelector: { a: b }, tolerationKeys: [a] }';
    const flux = { proxy: { noProxy: '.example' }, nodeSelector: { c: 'd' }, tolerationKeys: [] };
    const config = effectiveConfig({ ...inputs({ 'config.yaml': yaml }), ...withConfig({ flux }) });
    expect(config.flux).toMatchObject(flux);
    expect(config.flux.proxy).toEqual(flux.proxy);
    expect(config.flux.nodeSelector).toEqual(flux.nodeSelector);
  });

  it('may hold the source, which Shoots then follow', () => {
    const yaml = JSON.stringify({
      source: { template: gitRepository() },
      kustomization: { template: kustomization() },
    });
    const config = effectiveConfig(inputs({ 'config.yaml': yaml }));
    expect(config).toMatchObject({ syncMode: 'ManifestsOnly', source: { metadata: { name: 'flux-system' } } });
  });

  it('may hold nothing but objects, which Shoots then follow, unless they have their own', () => {
    const project = inputs({ 'config.yaml': JSON.stringify({ objects: [git('fleet')] }) });
    expect(effectiveConfig(project).syncMode).toBe('ManifestsOnly');
    const own = withConfig({ objects: [git('own')] });
    expect(effectiveConfig({ ...project, ...own }).syncMode).toBe('Once');
    expect(effectiveConfig(own).syncMode).toBe('Once');
  });

  it.each(['', '  \n', '# nothing yet', 'null'])('may be empty: %j', (text) => {
    expect(effectiveConfig(inputs({ 'config.yaml': text, 'overrides.yaml': text })).hasFluxConfig).toBe(true);
  });

  it.each<[Record<string, string>, string]>([
    [
      { 'config.yaml': 'flux: { version: 2.9.x }', fluxVersion: '2.8.x' },
      'config.yaml.flux.version is also set by the key fluxVersion; remove one of them',
    ],
    [
      {
        ...repository,
        'config.yaml': JSON.stringify({ source: { template: gitRepository() } }),
      },
      'config.yaml.source.template is also set by the key repositoryUrl; remove one of them',
    ],
    [
      { ...repository, 'config.yaml': 'kustomization: { patch: { spec: { path: ./a } } }' },
      'config.yaml.kustomization.patch.spec.path is also set by the key repositoryPath; remove one of them',
    ],
    [
      { 'config.yaml': 'flux:\n  version: v2.9.4\n  version: v2.9.3' },
      'config.yaml has the key "version" twice; remove one of them',
    ],
    [{ 'config.yaml': 'a: 1\n---\nb: 2' }, 'config.yaml has more than one document; write only one, without ---'],
  ])('rejects %j', (data, sentence) => {
    expect(problems(inputs(data))).toEqual([`${object}: ${sentence}`]);
  });
});

describe('overrides.yaml', () => {
  const data = { ...repository, 'config.yaml': 'flux: { clusterDomain: example.org }', 'overrides.yaml': overrides };
  const flux = (labels: Record<string, string>) => effectiveConfig(inputs(data, labels)).flux;

  it('changes only the Shoots that an entry selects', () => {
    expect(flux({})).toMatchObject({ logLevel: 'info', clusterDomain: 'example.org' });
    expect(flux({ stage: 'prod', region: 'ap' })).toMatchObject({ logLevel: 'info' });
    const dev = effectiveConfig(inputs(data, { stage: 'dev' }));
    expect(dev.flux).toMatchObject({ logLevel: 'debug', version: '2.8.x', clusterDomain: 'example.org' });
    expect(dev.kustomization).toMatchObject({ metadata: { name: 'main-ks' }, spec: { path: './clusters/dev' } });
    expect(dev.syncMode).toBe('ManifestsOnly');
  });

  it('merges the entries in order: a later one is higher', () => {
    expect(flux({ stage: 'dev', region: 'eu' })).toMatchObject({ logLevel: 'error', version: '2.8.x' });
  });

  it('takes over the Flux of others in the Shoots that an entry selects, and leaves out those that a later one selects', () => {
    const adopting = `
- { selector: { matchLabels: { stage: dev } }, config: { adopt: true, syncMode: Reconcile } }
- { selector: { matchExpressions: [{ key: keep, operator: Exists }] }, config: { adopt: false } }
`;
    const adopts = (labels: Record<string, string>, more: Record<string, string> = {}, own?: object) =>
      effectiveConfig({ ...inputs({ 'overrides.yaml': adopting, ...more }, labels), ...(own && withConfig(own)) })
        .adopt;
    expect(adopts({ stage: 'dev' })).toBe(true);
    expect(adopts({ stage: 'prod' })).toBeUndefined();
    expect(adopts({ stage: 'dev', keep: '' })).toBeUndefined();
    expect(adopts({ stage: 'prod', keep: '' }, { adopt: 'true' })).toBeUndefined();
    expect(adopts({ stage: 'prod' }, {}, { adopt: true })).toBe(true);
    expect(adopts({ stage: 'dev' }, {}, { adopt: false })).toBeUndefined();
  });

  it('is below the providerConfig of a Shoot', () => {
    const own = withConfig({ flux: { logLevel: 'info' } });
    const config = effectiveConfig({ ...inputs(data, { stage: 'dev' }), ...own });
    expect(config.flux).toMatchObject({ logLevel: 'info', version: '2.8.x', clusterDomain: 'example.org' });
  });

  it('does not apply where the labels are unknown', () => {
    const { fluxConfig } = inputs(data);
    expect(effectiveConfig({ fluxConfig }).flux.logLevel).toBe('info');
  });

  it('names the entry and the path, and concerns only the Shoots that it selects', () => {
    const wrong = {
      'overrides.yaml': `${overrides}- { selector: { matchLabels: { a: b } }, config: { flux: { version: newest } } }`,
    };
    const sentence = expect.stringContaining(`${object}: overrides.yaml[2].config.flux.version "newest" is not a Flux`);
    expect(problems(inputs(wrong, { a: 'b' }))).toEqual([sentence]);
    expect(problems(inputs(wrong, { a: 'c' }))).toEqual([]);
    // On the ConfigMap everything is reported.
    const { fluxConfig } = inputs(wrong);
    expect(projectLayers(fluxConfig, undefined).issues.map(({ path }) => path)).toEqual([
      'overrides.yaml[2].config.flux.version',
    ]);
  });

  it.each(
    Object.entries<string>({
      ' must be a list of entries with selector and config; start each entry with "- "': 'selector: {}',
      '[0].selector is missing; set it, for example { matchLabels: { stage: dev } }': '- { config: {} }',
      '[0].config is missing; set it, for example { flux: { version: v2.9.4 } }': '- { selector: {} }',
      '[0].selector.matchlabels is not a known key; did you mean matchLabels?':
        '- { selector: { matchlabels: {} }, config: {} }',
      '[0].selector.matchLabels.stage must be a string, not null; write its value':
        '- { selector: { matchLabels: { stage: } }, config: {} }',
      '[0].selector.matchLabels must be an object, not null': '- { selector: { matchLabels: }, config: {} }',
      '[0].selector.matchExpressions must be a list, not null; start each entry with "- "':
        '- { selector: { matchLabels: { a: b }, matchExpressions: }, config: {} }',
      '[0].selector.matchExpressions[0].operator "Notin" is not a valid value; did you mean NotIn?':
        '- { selector: { matchExpressions: [{ key: a, operator: Notin }] }, config: {} }',
      '[0].selector.matchExpressions[0].values is missing; In needs at least one value':
        '- { selector: { matchExpressions: [{ key: a, operator: In }] }, config: {} }',
      '[0].selector.matchExpressions[0].values is not read with Exists; remove it':
        '- { selector: { matchExpressions: [{ key: a, operator: Exists, values: [b] }] }, config: {} }',
      ' has 101 entries; use at most 100': '- { selector: {}, config: {} }\n'.repeat(101),
    }),
  )('rejects: %s', (sentence, text) => {
    expect(problems(inputs({ 'overrides.yaml': text }, { any: 'label' }))).toEqual([
      `${object}: overrides.yaml${sentence}`,
    ]);
  });
});

test('additionalSecretResources of the project name entries of each Shoot, and the highest list counts', () => {
  const entry = (name: string) => ({ name, apiVersion: 'v1', kind: 'Secret', resourceName: name });
  const project = inputs({ 'config.yaml': 'additionalSecretResources: [{ name: sops }]' });
  expect(effectiveConfig({ ...project, shootResources: [entry('sops')] }).additionalSecrets).toHaveLength(1);
  expect(problems({ ...project, shootResources: [] })).toEqual([
    expect.stringContaining(`${object}: config.yaml.additionalSecretResources[0].name`),
  ]);
  const own = withConfig({ additionalSecretResources: [{ name: 'own' }] });
  expect(effectiveConfig({ ...project, ...own, shootResources: [entry('own')] }).additionalSecrets).toMatchObject([
    { origin: { resourceName: 'own' } },
  ]);
});

const project = withFluxConfig({
  repositoryUrl: 'https://github.com/org/fleet',
  repositoryPath: './clusters/all',
  kustomizationInterval: '10m',
});
const withKustomization = (fields: object) => ({ ...project, ...withConfig({ kustomization: fields }) });
const patched = (patch: object) => withKustomization({ patch });

describe('kustomization.patch', () => {
  it('changes fields of the lower layer, which keeps its name, its namespace and everything else', () => {
    const lower = effectiveConfig(project);
    const { metadata, spec } = lower.kustomization as KubeObject;
    const config = effectiveConfig(patched({ spec: { path: './clusters/staging' }, metadata: { labels: { a: 'b' } } }));
    expect(config.kustomization).toEqual({
      ...lower.kustomization,
      metadata: { ...metadata, labels: { a: 'b' } },
      spec: { ...(spec as object), path: './clusters/staging' },
    });
    expect(config.source).toEqual(lower.source);
    expect(config.syncMode).toBe('ManifestsOnly');
  });

  it('merges objects, replaces lists, and removes what is null', () => {
    const postBuild = { substitute: { a: '1', b: '2' }, substituteFrom: [{ kind: 'Secret', name: 'x' }] };
    const template = kustomization({ postBuild, targetNamespace: 'apps' });
    const patch = {
      spec: { postBuild: { substitute: { a: null, c: '3' }, substituteFrom: [] }, targetNamespace: null },
    };
    const defaults = { source: { template: gitRepository() }, kustomization: { template } };
    const config = effectiveConfig({ landscape: { defaults }, ...withConfig({ kustomization: { patch } }) });
    const spec = config.kustomization?.spec;
    expect(spec).toMatchObject({ postBuild: { substitute: { b: '2', c: '3' }, substituteFrom: [] } });
    expect(spec).not.toHaveProperty('postBuild.substitute.a');
    expect(spec).not.toHaveProperty('targetNamespace');
  });

  it.each(
    Object.entries<object>({
      '.metadata.name is not a known key; known keys are labels, annotations': { patch: { metadata: { name: 'a' } } },
      ' cannot be combined with template; remove one of them': { patch: {}, template: kustomization() },
      '.spec.interval "5 minutes" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m':
        { patch: { spec: { interval: '5 minutes' } } },
      '.spec.path is missing; set it, for example ./clusters/production': { patch: { spec: { path: null } } },
      '.metadata.annotations has the key "resources.gardener.cloud/ignore", which is reserved for Gardener; remove it':
        { patch: { metadata: { annotations: { 'resources.gardener.cloud/ignore': 'true' } } } },
    }),
  )('rejects: %s', (sentence, fields) => {
    expect(problems(withKustomization(fields))).toEqual([`providerConfig: kustomization.patch${sentence}`]);
  });

  it.each([
    [
      { sourceRef: { kind: 'Bucket' } },
      'sourceRef.kind "Bucket" is not the kind of the configured source; use GitRepository or omit sourceRef',
    ],
    [
      { sourceRef: { namespace: 'x' } },
      'sourceRef.namespace must be flux-system, the namespace of the Kustomization, because multiTenancy is true',
    ],
  ])('is named by what the rules for several layers find in %j', (spec, sentence) => {
    const inputs = patched({ spec });
    const data = { ...inputs.fluxConfig?.data, multiTenancy: 'true' };
    expect(problems({ ...inputs, fluxConfig: { namespace: 'garden-foo', data } })).toEqual([
      `providerConfig: kustomization.patch.spec.${sentence}`,
    ]);
  });

  it('rejects a patch of nothing', () => {
    expect(problems(withConfig({ kustomization: { patch: { spec: { path: './a' } } } }))).toEqual([
      'providerConfig: kustomization.patch has no Kustomization to change, because no lower layer has one; use template instead of patch',
    ]);
  });
});

const rolloutInputs = (rollout: string) => ({ fluxConfig: { namespace, data: { rollout } } });
const read = (rollout: string) => documentsOf(rolloutInputs(rollout).fluxConfig).rollout;

describe('rollout', () => {
  it('has defaults as soon as it says anything', () => {
    expect(read('{}')).toEqual({ value: { maxInProgress: '10%', maxFailed: '5%' }, issues: [] });
    expect(read('{ maxInProgress: 3, maxFailed: 0, order: example.com/stage, maintenanceWindow: true }')).toEqual({
      value: { maxInProgress: 3, maxFailed: 0, order: 'example.com/stage', maintenanceWindow: true },
      issues: [],
    });
    expect(read('maxInProgress: 100%\nmaxFailed: null').value).toEqual({
      maxInProgress: '100%',
      maxFailed: '5%',
    });
  });

  it.each(['', '  \n', '# nothing yet'])('may be empty: %j', (text) => {
    expect(read(text).value).toBeUndefined();
    expect(effectiveConfig(rolloutInputs(text)).hasFluxConfig).toBe(true);
  });

  it('changes nothing of the configuration', () => {
    expect(effectiveConfig(rolloutInputs('{}'))).toEqual(effectiveConfig(rolloutInputs('')));
  });

  const fromOne = 'use a whole number from 1 on, or a percentage from 1% to 100%';
  const fromZero = 'use a whole number from 0 on, or a percentage from 0% to 100%';
  it.each([
    ['- maxFailed: 1', ' must be a map; write for example { maxInProgress: 10%, maxFailed: 5% }'],
    ['10%', ' must be a map; write for example { maxInProgress: 10%, maxFailed: 5% }'],
    ['{ maxInProgress: 0 }', `.maxInProgress is 0; ${fromOne}`],
    ['{ maxInProgress: 0% }', `.maxInProgress is "0%"; ${fromOne}`],
    ['{ maxInProgress: 1.5 }', `.maxInProgress is 1.5; ${fromOne}`],
    ['{ maxInProgress: 101% }', `.maxInProgress is "101%"; ${fromOne}`],
    ['{ maxInProgress: all }', `.maxInProgress is "all"; ${fromOne}`],
    ['{ maxInProgress: 100000 }', `.maxInProgress is 100000; ${fromOne}`],
    ['{ maxFailed: -1 }', `.maxFailed is -1; ${fromZero}`],
    ['{ maxFailed: [1] }', `.maxFailed is not a number; ${fromZero}`],
    ['{ order: "a b" }', '.order "a b" is not a valid label or annotation key; use a form like example.com/team'],
    ['{ maintenanceWindow: "yes" }', '.maintenanceWindow must be true or false without quotes, not "yes"'],
    ['{ maxInprogress: 1 }', '.maxInprogress is not a known key; did you mean maxInProgress?'],
    ['{ maxFailed: 1', ' is not valid YAML in line 1, column 15: "Flow map must end with a }"; correct it'],
  ])('%s is an error: rollout%s', (text, sentence) => {
    expect(problems(rolloutInputs(text))).toEqual([`${object}: rollout${sentence}`]);
  });
});
