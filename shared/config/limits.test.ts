import { describe, expect, it, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import {
  gitRepository,
  hostKey,
  kustomization,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import { fluxConfigRepository } from './flux-config.ts';
import { fluxConfigMapOf } from './flux-config-map.ts';
import { pathText } from './schema.ts';
import type { ConfigInputs } from './types.ts';

const times = <T>(count: number, entry: (index: number) => T) => Array.from({ length: count }, (_, i) => entry(i));
const names = (count: number) => times(count, (i) => `source-controlle-${i}`);
const fields = (count: number) => Object.fromEntries(times(count, (i) => [`field-${i}`, `value-${i}`]));
const withSpec = (spec: object) => withTemplates(gitRepository(spec));
const withSsh = (knownHosts: string) =>
  withFluxConfig({ repositoryUrl: 'ssh://git@git.example.com/a', repositoryType: 'private', knownHosts });
const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

/** The only sentence about inputs -> these. */
const tooLarge: Record<string, ConfigInputs> = {
  'ConfigMap garden-foo/flux-config is longer than 128 KiB; move long content to the repository': withFluxConfig({
    repositoryUrl: 'https://git.example.com/a',
    repositoryPath: 'p'.repeat(1_000_000),
  }),
  'ConfigMap garden-foo/flux-config has 100,000 entries; use at most 100': withFluxConfig(
    Object.fromEntries(times(100_000, (i) => [`k${i}`, ''])),
  ),
  'ConfigMap garden-foo/flux-config: components has 5,000 entries; use at most 100': withFluxConfig({
    components: names(5000).join(' '),
  }),
  'ConfigMap garden-foo/flux-config: repositoryUrl is longer than 4,096 characters; use a shorter one': withFluxConfig({
    repositoryUrl: `https://${'ü.'.repeat(50_000)}example`,
  }),
  [`ConfigMap garden-foo/flux-config: repositoryUrl "https://${'a'.repeat(72)}..." has a host name of more than 253 characters; correct it`]:
    withFluxConfig({ repositoryUrl: `https://${'a'.repeat(3000)}/x` }),
  'ConfigMap garden-foo/flux-config: fluxVersion has more than 20 comparisons; use fewer': withFluxConfig({
    fluxVersion: '2.9.x || '.repeat(40).slice(0, -4),
  }),
  'providerConfig is longer than 128 KiB; move long content to the repository': withConfig({
    flux: { clusterDomain: 'a.'.repeat(500_000) },
  }),
  'providerConfig has more than 5,000 values in all its objects and lists; move long content to the repository':
    withSpec({ include: times(20_000, (i) => i) }),
  'providerConfig is nested more than 64 levels deep; flatten it': withSpec({ include: nested(5000) }),
  'providerConfig: flux.commonMetadata is longer than 8 KiB; use shorter values': withConfig({
    flux: { commonMetadata: { annotations: Object.fromEntries(times(25, (i) => [`a-${i}`, 'a'.repeat(4000)])) } },
  }),
  [`providerConfig has the key "${'a'.repeat(80)}...", which is longer than 320 characters; use a shorter one`]:
    withTemplates(gitRepository(), kustomization({ postBuild: { substitute: { ['a'.repeat(1000)]: 'x' } } })),
  [`providerConfig has the key "${'\\u2028'.repeat(80)}...", which is longer than 320 characters; use a shorter one`]:
    withTemplates(gitRepository(), kustomization({ commonMetadata: { labels: { ['\u2028'.repeat(100)]: 'x' } } })),
  'providerConfig: additionalSecretResources has 300 entries; use at most 100': withConfig({
    additionalSecretResources: times(300, (i) => ({ name: 'big', targetName: `copy-${i}` })),
  }),
  'providerConfig: source.template.metadata.annotations has 3,000 entries; use at most 100': withTemplates(
    gitRepository({}, { metadata: { annotations: fields(3000) } }),
  ),
};

describe('a limit is reported with one sentence, and nothing else is read', () => {
  it.each(Object.entries(tooLarge))('%s', (sentence, inputs) => {
    expect(problems(inputs)).toEqual([sentence]);
  });

  test('for a ConfigMap with much binaryData', () => {
    const fluxConfig = fluxConfigMapOf('garden-foo', { binaryData: { file: 'A'.repeat(1_000_000) } });
    expect(problems({ fluxConfig })).toEqual([
      'ConfigMap garden-foo/flux-config is longer than 128 KiB; move long content to the repository',
    ]);
  });

  test('for a ConfigMap whose repository alone is read', () => {
    const fluxConfig = fluxConfigMapOf('garden-foo', { data: { other: 'x'.repeat(200_000) } });
    const read = () => fluxConfigRepository(fluxConfig);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      'ConfigMap garden-foo/flux-config is longer than 128 KiB; move long content to the repository',
    );
  });
});

it.each<[string, ConfigInputs]>([
  ['500 lines of knownHosts', withSsh(Array(500).fill(hostKey('git.example.com')).join('\n'))],
  ['64 hosts in one line', withSsh(hostKey(`${'a.example.com,'.repeat(63)}git.example.com`))],
  ['100 annotations', withTemplates(gitRepository({}, { metadata: { annotations: fields(100) } }))],
  ['a patch of 100 KiB', withTemplates(gitRepository(), kustomization({ patches: [{ patch: 'x'.repeat(100_000) }] }))],
  [
    '2,000 variables',
    withTemplates(
      gitRepository(),
      kustomization({ postBuild: { substitute: Object.fromEntries(times(2000, (i) => [`v${i}`, 'x'])) } }),
    ),
  ],
  ['a key of 320 characters', withTemplates(gitRepository({ free: { ['a'.repeat(320)]: 1 } }))],
])('everything up to a limit is read: %s', (_, inputs) => {
  expect(problems(inputs)).toEqual([]);
});

describe('many mistakes are reported with a bounded number of sentences', () => {
  it.each<[string, ConfigInputs, RegExp]>([
    ['100 unknown keys', withFluxConfig(fields(100)), /field-0 is not a known key; known keys are /],
    ['4,000 unknown keys at the top', withConfig(fields(4000)), /providerConfig: field-0 is not a known key/],
    [
      '4,000 variables with wrong names',
      withTemplates(gitRepository(), kustomization({ postBuild: { substitute: fields(4000) } })),
      /postBuild.substitute "field-0" is not a valid variable name/,
    ],
    [
      '100 labels with wrong values',
      withTemplates(
        gitRepository(
          {},
          { metadata: { labels: Object.fromEntries(times(100, (i) => [`l${i}`, `${'-'.repeat(i)}!`])) } },
        ),
      ),
      /metadata.labels.l0 "!" is not a valid label value/,
    ],
    [
      '100 keys in binaryData',
      { fluxConfig: { namespace: 'garden-foo', data: {}, binaryData: fields(100) } },
      /binaryData contains "field-0", which is not read; move it to data/,
    ],
  ])('%s', (_, inputs, first) => {
    const found = problems(inputs);
    expect(found).toHaveLength(20);
    expect(found[0]).toMatch(first);
  });

  test('with paths that are cut', () => {
    expect(pathText(times(60, (i) => `level-${i}`))).toMatch(/^level-0\.level-1.{280,320}\.\.\.$/);
    expect(pathText(times(60, () => 'x'.repeat(1000))).length).toBeLessThan(450);
  });
});
