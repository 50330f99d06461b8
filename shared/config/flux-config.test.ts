import { describe, expect, it } from 'vitest';
import { effectiveConfig } from './effective-config.ts';
import { fluxConfigFields, fluxConfigSchema, readFluxConfig } from './flux-config.ts';
import { originOf } from './origins.ts';
import { keyDocs } from './schema.ts';
import { asObject } from './values.ts';

const base = { repositoryUrl: 'https://example.com/org/fleet' };

/** Returns the paths of the effective configuration at which the key's example changes something. */
function fieldsSetBy(key: string): { path: string; origin: string }[] {
  const schema = fluxConfigSchema.shape[key as keyof typeof fluxConfigSchema.shape];
  const example = (keyDocs.get(schema)?.example ?? '').replaceAll('"', '');
  const before = leaves(readFluxConfig({ namespace: 'garden-foo', data: base }).content);
  const layer = readFluxConfig({ namespace: 'garden-foo', data: { ...base, [key]: example } });
  return Object.entries(leaves(layer.content))
    .filter(([path, value]) => before[path] !== value)
    .map(([path]) => path.replace(/^source\.template/, 'source'))
    .filter((path) => !path.startsWith('source.secret.'))
    .map((path) => ({ path, origin: originOf(layer.origins, path).path }));
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
    const without = ['knownHosts', 'sshKeyType', 'config.yaml', 'overrides.yaml', 'rollout'];
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
