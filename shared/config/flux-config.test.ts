// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { describe, expect, it, test } from 'vitest';
import { hostKey, problems, withFluxConfig, withTemplates } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import {
  fluxConfigFields,
  fluxConfigRepository,
  fluxConfigSchema,
  readFluxConfig,
  repositoryKeys,
} from './flux-config.ts';
import { fluxConfigObject } from './flux-config-map.ts';
import { originOf } from './origins.ts';
import { keyDocs } from './schema.ts';
import type { Layer } from './types.ts';
import { asObject } from './values.ts';

const base = { repositoryUrl: 'https://example.com/org/fleet' };

/** Returns the paths of the effective configuration at which the key's example changes something. */
function fieldsSetBy(key: string): { path: string; origin: string }[] {
  const schema = fluxConfigSchema.shape[key as keyof typeof fluxConfigSchema.shape];
  const example = (keyDocs.get(schema)?.example ?? '').replaceAll('"', '');
  const before = valuesOf(readFluxConfig({ namespace: 'garden-foo', data: base }));
  const layer = readFluxConfig({ namespace: 'garden-foo', data: { ...base, [key]: example } });
  return Object.entries(valuesOf(layer))
    .filter(([path, value]) => before[path] !== value)
    .map(([path]) => ({ path, origin: originOf(layer.origins, path).path }));
}

function valuesOf({ content: { sources, kustomizations, ...others } }: Layer): Record<string, string> {
  return leaves({ ...others, source: sources?.[0]?.template, kustomization: kustomizations?.[0]?.template });
}

function leaves(value: unknown, path = ''): Record<string, string> {
  const object = asObject(value);
  if (object === undefined) return value === undefined ? {} : { [path]: JSON.stringify(value) };
  const parts = Object.entries(object).map(([name, inner]) => leaves(inner, path === '' ? name : `${path}.${name}`));
  return Object.assign({}, ...parts);
}

describe('the keys of flux-config', () => {
  const keys = Object.keys(fluxConfigSchema.shape);

  it.each(keys)('names %s as the origin of every field that it sets', (key) => {
    for (const { path, origin } of fieldsSetBy(key)) expect(origin, path).toMatch(new RegExp(`^${key}\\b`));
  });

  it('have an effect on the configuration, except those of the Secret flux-source and layers of their own', () => {
    const without = ['knownHosts', 'sshKeyType', 'config.yaml', 'overrides.yaml', 'rollout', 'push'];
    expect(keys.filter((key) => fieldsSetBy(key).length === 0)).toEqual(without);
  });

  it.each(Object.entries(fluxConfigFields))('%s sets %s', (key, field) => {
    const paths = fieldsSetBy(key).map(({ path }) => path);
    expect(paths.filter((path) => path === field || path.startsWith(`${field}.`))).not.toEqual([]);
  });
});

describe('a number after the colon of an address in the form of scp', () => {
  const warningsAbout = (repositoryUrl: string) =>
    effectiveConfig({ fluxConfig: { namespace: 'garden-foo', data: { repositoryUrl, repositoryType: 'private' } } })
      .warnings;

  it('is a folder, and a warning says so', () => {
    expect(warningsAbout('git@git.example.com:2222/org/fleet')).toEqual([
      {
        object: 'ConfigMap garden-foo/flux-config',
        path: 'repositoryUrl',
        message:
          'has no port, because a number after the colon is a folder; write ssh://git@git.example.com:2222/org/fleet if a port is meant',
      },
    ]);
  });

  it.each([
    'git@git.example.com:org/fleet',
    'git@git.example.com:2222',
    'git@git.example.com:2222org/fleet',
    'ssh://git@git.example.com:2222/org/fleet',
    'ssh://git@git.example.com/2222/org/fleet',
  ])('is not in %s', (url) => {
    expect(warningsAbout(url)).toBeUndefined();
  });
});

const read = (data: Record<string, string>) => fluxConfigRepository({ namespace: 'garden-foo', data });

test('fills in the defaults of a repository', () => {
  const url = 'https://github.com/org/fleet';
  expect(read({ repositoryUrl: url })).toEqual({ url, type: 'public', sshKeyType: 'ed25519' });
});

test('returns everything that a key pair needs', () => {
  const knownHosts = hostKey('github.com');
  const data = { repositoryUrl: 'git@github.com:org/fleet', repositoryType: 'private', sshKeyType: 'rsa', knownHosts };
  expect(read(data)).toEqual({ url: 'ssh://git@github.com/org/fleet', type: 'private', sshKeyType: 'rsa', knownHosts });
});

test.each([
  ['https://my-org@dev.azure.com/my-org/project/_git/fleet', 'https://dev.azure.com/my-org/project/_git/fleet'],
  [
    'https://my-org@dev.azure.com/my-org/${SHOOT_NAME}/_git/fleet',
    'https://dev.azure.com/my-org/${SHOOT_NAME}/_git/fleet',
  ],
  ['https://john@bitbucket.org/team/fleet.git', 'https://bitbucket.org/team/fleet.git'],
  ['https://john@git.example.com:8443/scm/team/fleet.git', 'https://git.example.com:8443/scm/team/fleet.git'],
  ['https://org@github.com/org/fleet', 'https://github.com/org/fleet'],
])('reads %s, as a Git host offers it, without the name', (repositoryUrl, url) => {
  expect(read({ repositoryUrl })?.url).toBe(url);
  const template = { url: repositoryUrl, ref: { branch: 'main' } };
  const found = problems(withTemplates({ kind: 'GitRepository', spec: template }));
  const [name] = /\w[\w-]+@/.exec(repositoryUrl) ?? [];
  expect(found.filter((problem) => problem.includes('user name'))).toEqual([
    `providerConfig: source.template.spec.url has a user name; remove ${name} from it`,
  ]);
});

test.each([
  'https://ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/org/fleet',
  'https://john@git.example.com/org/fleet',
  'https://evil.example@github.com/org/fleet',
  'https://bitbucket.org@evil.example/org/fleet',
  'https://my-org@dev.azure.com',
])('reads no URL with what may be a token: %s', (repositoryUrl) => {
  expect(() => read({ repositoryUrl })).toThrow('has a user name or a token before the host');
});

test.each([
  ['git@ssh.dev.azure.com:v3/org/project/fleet', 'rsa'],
  ['ssh://org@VS-SSH.visualstudio.com:22/v3/org/project/${SHOOT_NAME}', 'rsa'],
  ['ssh://git-codecommit.us-east-1.amazonaws.com/v1/repos/fleet', 'rsa'],
  ['git@gitlab.com:org/fleet', 'ed25519'],
])('%s needs a key of type %s', (repositoryUrl, sshKeyType) => {
  expect(read({ repositoryUrl, repositoryType: 'private' })?.sshKeyType).toBe(sshKeyType);
  expect(read({ repositoryUrl, repositoryType: 'private', sshKeyType: 'rsa' })?.sshKeyType).toBe('rsa');
});

test('returns the same URL as effectiveConfig', () => {
  const data = { repositoryUrl: ' git@github.com:/org/fleet ', repositoryType: 'private' };
  expect(effectiveConfig(withFluxConfig(data)).source?.spec).toMatchObject({ url: read(data)?.url });
});

test('returns undefined without repositoryUrl', () => {
  expect(read({ fluxVersion: 'v2.9.4' })).toBeUndefined();
});

test('ignores a typo in another key, so that a key pair is still created', () => {
  expect(read({ repositoryUrl: 'https://github.com/org/fleet', syncmode: 'Onec' })).toBeDefined();
});

test('throws the same errors about the repository as effectiveConfig', () => {
  const data = { repositoryUrl: 'ssh://git@github.com/org/fleet', knownHosts: 'x' };
  expect(() => read(data)).toThrow(problems(withFluxConfig(data)).join('; '));
});

test('accepts known_hosts with a line for the host, among comments', () => {
  const knownHosts = `# comment\n\n${hostKey('[git.example.com]:2222')} comment\n`;
  const data = { repositoryUrl: 'ssh://git@git.example.com:2222/org/fleet', repositoryType: 'private', knownHosts };
  expect(read(data)?.knownHosts).toBe(knownHosts.trim());
});

test('names a ConfigMap from a file without a namespace', () => {
  expect(fluxConfigObject('garden-foo')).toBe('ConfigMap garden-foo/flux-config');
  expect(fluxConfigObject('')).toBe('ConfigMap flux-config');
});

test('a GitHub App is the provider of the source, and needs a private repository over HTTPS', () => {
  const data = {
    repositoryUrl: 'https://github.com/org/fleet',
    repositoryType: 'private',
    repositoryProvider: 'github',
  };
  expect(read(data)).toMatchObject({ provider: 'github' });
  expect(effectiveConfig(withFluxConfig(data)).source?.spec).toMatchObject({
    provider: 'github',
    secretRef: { name: 'flux-source' },
  });
  const generic = effectiveConfig(withFluxConfig({ ...data, repositoryProvider: 'generic' }));
  expect(generic.source?.spec).not.toHaveProperty('provider');
  expect(problems(withFluxConfig({ ...data, repositoryType: 'public' }))).toEqual([
    'ConfigMap garden-foo/flux-config: repositoryType must be private, because repositoryProvider is github',
  ]);
  expect(problems(withFluxConfig({ ...data, repositoryUrl: 'ssh://git@github.com/org/fleet' }))).toEqual([
    'ConfigMap garden-foo/flux-config: repositoryProvider cannot be github with SSH; use the https:// URL of the repository',
  ]);
});

const ofObjects = Object.entries(repositoryKeys).filter(([, row]) => keyDocs.get(row)?.sets?.includes('.spec.'));
const oddValues = ['1h', '1m30s', '0s', '-1m', '5', 'x y', '../x', '>=1', 'v1..2'];

test.each(ofObjects)('%s accepts nothing that a template refuses in the field that it sets', (name) => {
  for (const value of oddValues) {
    const inputs = withFluxConfig({
      repositoryUrl: 'https://github.com/org/fleet',
      repositoryBranch: 'main',
      [name]: value,
    });
    if (problems(inputs).length > 0) continue;
    const { source = {}, kustomization = {} } = effectiveConfig(inputs);
    expect(problems(withTemplates(source, kustomization)), value).toEqual([]);
  }
});
