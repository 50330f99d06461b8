import { describe, expect, it } from 'vitest';
import { problems } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { git, kustomize } from './listed/testing.ts';
import type { ConfigInputs } from './types.ts';

const repository = { repositoryUrl: 'https://git.example.com/fleet', repositoryBranch: 'main' };
const object = 'ConfigMap garden-foo/flux-config';
const entry = (name: string, path: string) => ({ template: { metadata: { name }, spec: { path } } });
const listed = (name: string, path = './apps') => kustomize(name, 'main-gitrepo', { path });
const source = { template: { kind: 'GitRepository', spec: { url: 'https://a.example/b', ref: { branch: 'main' } } } };

/** A project with config.yaml, and an override for `stage: dev`, of which the Shoot is. */
function inputs(data: Record<string, string>, config?: object, override?: object): ConfigInputs {
  const overrides = [{ selector: { matchLabels: { stage: 'dev' } }, config: override }];
  const fluxConfig = {
    namespace: 'garden-foo',
    data: {
      ...data,
      ...(config && { 'config.yaml': JSON.stringify(config) }),
      ...(override && { 'overrides.yaml': JSON.stringify(overrides) }),
    },
  };
  return { fluxConfig, shoot: { labels: { stage: 'dev' }, facts: { SHOOT_NAME: 'bar' } }, shootResources: [] };
}

const pathsOf = ({ kustomization, objects }: ReturnType<typeof effectiveConfig>) =>
  Object.fromEntries(
    [kustomization, ...objects].flatMap((one) =>
      one?.kind === 'Kustomization' ? [[one.metadata.name, (one.spec as { path: string }).path]] : [],
    ),
  );

describe('an override with lists', () => {
  const both = { sources: [source], kustomizations: [entry('root', './root'), entry('apps', './apps')] };

  it.each(
    Object.entries<[Record<string, string>, object | undefined, object, object]>({
      'replaces all objects of a lower layer, also by the same names': [
        repository,
        { objects: [listed('apps'), listed('infrastructure')] },
        { objects: [listed('apps', './dev')] },
        { 'main-ks': './', apps: './dev' },
      ],
      'removes all objects with an empty list': [
        repository,
        { objects: [listed('apps')] },
        { objects: [] },
        { 'main-ks': './' },
      ],
      'replaces the whole list of Kustomizations, with the first one as the root': [
        {},
        both,
        { kustomizations: [entry('apps', './dev')] },
        { apps: './dev' },
      ],
      'replaces the Kustomization of repositoryUrl by one of the same name': [
        repository,
        undefined,
        { kustomizations: [entry('main-ks', './dev'), entry('apps', './apps')] },
        { 'main-ks': './dev', apps: './apps' },
      ],
      'replaces the list by its short form': [{}, both, { kustomization: entry('root', './dev') }, { root: './dev' }],
      'changes only the root with a patch, which keeps the others': [
        {},
        both,
        { kustomization: { patch: { spec: { path: './dev' } } } },
        { root: './dev', apps: './apps' },
      ],
      'has variables of the Shoot in each entry': [
        repository,
        undefined,
        { objects: [listed('apps', `./\${SHOOT_NAME}/\${SHOOT_LABEL_stage}`)] },
        { 'main-ks': './', apps: './bar/dev' },
      ],
    }),
  )('%s', (_what, [data, config, override, paths]) => {
    expect(pathsOf(effectiveConfig(inputs(data, config, override)))).toEqual(paths);
  });

  it('cannot have a second object with the name of the Kustomization of repositoryUrl', () => {
    expect(problems(inputs(repository, undefined, { objects: [listed('main-ks')] }))).toEqual([
      `${object}: overrides.yaml[0].config.objects[0].metadata.name "main-ks" is already the name of the Kustomization that repositoryUrl creates in namespace flux-system; use another name`,
    ]);
  });
});

describe('the issues of a list', () => {
  it('are where the patch of a higher layer is', () => {
    const config = { sources: [source], kustomizations: [entry('root', './root'), entry('apps', './apps')] };
    const patch = {
      spec: { dependsOn: [{ name: 'ops' }], decryption: { provider: 'sops', secretRef: { name: 'age' } } },
    };
    expect(problems(inputs({}, config, { kustomization: { patch } }))).toEqual([
      expect.stringContaining(
        'overrides.yaml[0].config.kustomization.patch.spec.dependsOn[0] names Kustomization "ops"',
      ),
      expect.stringContaining(
        'overrides.yaml[0].config.kustomization.patch.spec.decryption.secretRef names Secret "age"',
      ),
    ]);
  });

  const wrong = { template: { metadata: { name: 'base' }, spec: { path: './', interval: '5' } } };
  const waiting = { template: { metadata: { name: 'apps' }, spec: { path: './', dependsOn: [{ name: 'base' }] } } };

  it.each<[string, Record<string, string>, object, string]>([
    ['a root', {}, { sources: [source], kustomizations: [wrong, waiting] }, 'config.yaml.kustomizations[0]'],
    [
      'another entry',
      {},
      { sources: [source], kustomizations: [entry('root', './'), wrong, waiting] },
      'config.yaml.kustomizations[1]',
    ],
    [
      'an object',
      repository,
      {
        objects: [
          { kind: 'Kustomization', ...wrong.template },
          { kind: 'Kustomization', ...waiting.template },
        ],
      },
      'config.yaml.objects[0]',
    ],
    ['a key', { ...repository, repositoryInterval: '5' }, { objects: [listed('apps')] }, 'repositoryInterval'],
  ])('do not say that %s is missing which only has an issue', (_what, data, config, where) => {
    expect(problems(inputs(data, config))).toEqual([expect.stringContaining(`${object}: ${where}`)]);
  });
});

describe('flux-source', () => {
  const secretRef = { name: 'flux-source' };
  const copied = { origin: { type: 'flux-source' }, targetName: 'flux-source', namespace: 'flux-system' };
  const withSecret = { template: { ...source.template, spec: { ...source.template.spec, secretRef } } };

  it('is copied for the source of config.yaml that names it', () => {
    const config = effectiveConfig(inputs({}, { source: withSecret, kustomization: entry('root', './') }));
    expect(config.sourceSecret).toEqual(copied);
  });

  it('is copied for the first and for further sources of a list, once', () => {
    const second = { template: { ...git('apps', { secretRef }) } };
    const first = { sources: [withSecret, second], kustomizations: [entry('root', './')] };
    expect(effectiveConfig(inputs({}, first))).toMatchObject({ sourceSecret: copied, additionalSecrets: [] });
    const only = { sources: [source, second], kustomizations: [entry('root', './')] };
    expect(effectiveConfig(inputs({}, only)).additionalSecrets).toEqual([copied]);
  });

  it('is not for a Shoot to name', () => {
    const providerConfig = { source: withSecret, kustomization: entry('root', './') };
    expect(problems({ providerConfig, shootResources: [] })).toEqual([
      expect.stringContaining('providerConfig: source.secretResourceName is missing'),
    ]);
  });
});
