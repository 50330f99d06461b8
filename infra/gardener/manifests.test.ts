import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { PolicyRule } from '../../shared/runtime/definition.ts';
import { findAllDefinitions } from '../functions.ts';
import { gardenerManifests } from './manifests.ts';
import { rbacObjects } from './rbac.ts';

const definitions = await findAllDefinitions();
const manifests = await gardenerManifests();
const rulesOf = (place: 'garden' | 'seed', name: string): PolicyRule[] => {
  const objects = rbacObjects(definitions, place);
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === `extensions.gardener.cloud:shoot-flux:${name}`,
  );
  return (role?.rules as PolicyRule[] | undefined) ?? [];
};

describe('manifests', () => {
  it.each(Object.entries(manifests))('%s is what the definitions say; "npm run docs" writes it', async (name, text) => {
    expect(await readFile(new URL(name, import.meta.url), 'utf8')).toBe(text);
  });
});

describe('RBAC', () => {
  it('only keys may write Secrets in the garden, and it has no right on a seed', () => {
    const writers = definitions.filter(({ name }) =>
      rulesOf('garden', name).some(
        ({ resources, verbs }) =>
          resources.includes('secrets') && verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)),
      ),
    );
    expect(writers.map(({ name }) => name)).toEqual(['keys']);
    expect(rulesOf('seed', 'keys')).toEqual([]);
  });

  it("the watcher sees no other Secret of the garden than the projects' flux-source", () => {
    const secrets = [...rulesOf('garden', 'watcher'), ...rulesOf('seed', 'watcher')].filter(({ resources }) =>
      resources.includes('secrets'),
    );
    expect(secrets).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'], resourceNames: ['flux-source'] },
    ]);
  });

  it('nobody may delete Extensions, and nobody has a wildcard', () => {
    const rules = (['garden', 'seed'] as const).flatMap((place) =>
      definitions.flatMap(({ name }) => rulesOf(place, name)),
    );
    expect(rules.length).toBeGreaterThan(5);
    expect(JSON.stringify(rules)).not.toContain('*');
    expect(
      rules.filter(({ resources, verbs }) => resources.includes('extensions') && verbs.includes('delete')),
    ).toEqual([]);
  });
});
