import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { missingCredentials } from '../../functions/keys/credentials.ts';
import { shootFlux } from '../../infra/cli/testing.ts';
import { standIn } from '../../shared/flux/testing.ts';

const folder = join(import.meta.dirname, '../../example');

interface Example {
  path: string;
  kind: string;
  metadata: { name: string; namespace: string };
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  spec?: { resources?: { resourceRef: { kind: string; name: string } }[] };
}

/** The examples for users, one object in each file. */
const examples = ['project', 'shoot'].flatMap((place) =>
  readdirSync(join(folder, place)).map((file): Example => {
    const path = join(folder, place, file);
    const documents = parseAllDocuments(readFileSync(path, 'utf8'));
    expect(documents).toHaveLength(1);
    return { path, ...documents[0]?.toJS() };
  }),
);
const ofKind = (kind: string) => examples.filter((example) => example.kind === kind);
const fluxConfigs = ofKind('ConfigMap').filter(({ metadata }) => metadata.name === 'flux-config');

/** Keys with which Flux reads credentials of Git over SSH, or decrypts; others follow from the type. */
const requiredKeys: Record<string, string[]> = {
  'my-repository': ['identity', 'known_hosts'],
  'my-age-key': ['age.agekey'],
};

describe('examples', () => {
  const validate = (...args: string[]) => shootFlux(['validate', '--flux-distribution', standIn.folder, ...args]);
  const ok = { code: 0, out: '', err: '' };
  const shoots = ofKind('Shoot').map(({ path }) => path);

  it.each(shoots)('validate finds no issue in Shoot %s', async (path) => {
    expect(await validate('--shoot', path)).toEqual(ok);
  });

  it.each(fluxConfigs.map(({ path }) => path))(
    'validate finds no issue in flux-config %s, for every Shoot',
    async (path) => {
      expect(await validate('--flux-config', path)).toEqual(ok);
      for (const shoot of shoots) expect(await validate('--flux-config', path, '--shoot', shoot)).toEqual(ok);
    },
  );

  it('contain each object that a Shoot refers to', () => {
    const referred = ofKind('Shoot').flatMap(({ spec }) => spec?.resources ?? []);
    expect(referred.length).toBeGreaterThan(3);
    for (const { resourceRef } of referred) {
      const found = examples.find(
        ({ kind, metadata }) => kind === resourceRef.kind && metadata.name === resourceRef.name,
      );
      expect(found?.metadata.namespace).toBe('garden-my-project');
    }
  });

  it('have Secrets with the keys that Flux reads, and no credentials', () => {
    const secrets = ofKind('Secret');
    expect(secrets.length).toBeGreaterThan(3);
    for (const { metadata, stringData = {}, type } of secrets) {
      const secret = Object.entries(stringData).filter(([key]) => !['username', 'known_hosts'].includes(key));
      for (const [, value] of secret) expect(value).toContain('REPLACE-ME');
      if (metadata.name === 'flux-source') {
        const url = 'https://git.example.com/org/fleet';
        expect(missingCredentials(metadata.namespace, stringData, { url })).toBeUndefined();
      } else if (type === 'kubernetes.io/dockerconfigjson')
        expect(Object.keys(JSON.parse(stringData['.dockerconfigjson'] ?? '{}').auths)).toEqual([
          'registry.example.com',
        ]);
      else expect(Object.keys(stringData)).toEqual(expect.arrayContaining(requiredKeys[metadata.name] ?? ['unknown']));
    }
  });
});
