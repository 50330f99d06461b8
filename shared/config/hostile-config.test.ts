import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ConfigError, issuesText } from '../errors.ts';
import { renderInputs } from '../flux/testing.ts';
import { objectGroups } from '../gardener/groups.ts';
import { gitRepository, kustomization, withConfig, withTemplates } from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { fluxConfigRepository, fluxConfigSchema } from './flux-config.ts';
import { limits } from './limits.ts';
import { misspelt, nearest } from './nearest.ts';
import type { ConfigInputs } from './types.ts';

const base = await renderInputs();

/** Merges and renders inputs; returns the sentences. Anything else than a ConfigError fails the test. */
async function sentences(inputs: ConfigInputs): Promise<string[]> {
  try {
    const config = effectiveConfig(inputs);
    await objectGroups({ ...base, config });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // A status has no room for more, whatever the input is.
    expect(error.issues.length).toBeLessThan(150);
    expect(issuesText(error.issues).length).toBeLessThan(20_000);
    return error.issues.map(({ object, path, message }) => {
      expect(object).toMatch(/^(providerConfig|ConfigMap garden-foo\/flux-config|configuration)$/);
      expect(path.length).toBeLessThan(500);
      expect(message).toMatch(/^[^\n]{10,1500}$/);
      expect(message).not.toMatch(/undefined|\[object|NaN/);
      return message;
    });
  }
}

/** Parts of texts over which regular expressions stumble; repeated up to the limit of a text. */
const atoms = [
  ...'a 1 1m 0. . - _ / : @ * \\ " [ { %41 || >= ~> 1.x v1.0.0- + .. .lock @{ a. a- git@a: https:// ssh://git@'.split(
    ' ',
  ),
  ...'oci://a/ sha256: ü 漢 😀 xn-- __proto__ constructor'.split(' '),
  ...[' ', '\t', '\n', '\u2028', '\u0000', '\ud800', '\u3002', '1.2.3 - ', 'PRIVATE KEY'],
];
const hostileText = fc
  .tuple(fc.constantFrom(...atoms), fc.constantFrom(...atoms), fc.constantFrom('', ...atoms), fc.nat(limits.text.most))
  .map(([one, other, start, length]) => `${start}${(one + other).repeat(length)}`.slice(0, length));
const hostileKey = fc.oneof(
  hostileText.map((text) => text.slice(0, 300)),
  fc.constantFrom('__proto__', 'toString', ''),
);
const { value: hostileValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(hostileText, fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(null, true, 0, -1, 1e308, '')),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(hostileKey, tie('value'), { maxKeys: 5, noNullPrototype: true }),
    fc.tuple(tie('value'), fc.integer({ min: 0, max: 150 })).map(([value, count]) => Array(count).fill(value)),
  ),
}));

const metadata = { name: 'a', namespace: 'b', labels: { a: 'b' }, annotations: { a: 'b' } };
const { providerConfig: full } = withConfig({
  flux: {
    ...{ version: 'v2.9.4', registry: 'a', namespace: 'b', components: [''], componentsExtra: [''] },
    imagePullSecret: 'a',
  },
  source: {
    template: gitRepository(
      {
        ref: { branch: 'a', tag: 'b', semver: '1.x', name: 'a', commit: 'b' },
        ...{ interval: '1m', timeout: '1m', secretRef: { name: 'a' }, ignore: 'a', include: [{ repository: {} }] },
      },
      { metadata },
    ),
    secretResourceName: 'a',
  },
  kustomization: {
    template: kustomization(
      {
        ...{ interval: '1m', prune: true, sourceRef: { kind: 'GitRepository', name: 'a', namespace: 'b' } },
        ...{ postBuild: { substitute: { a: 'b' }, substituteFrom: [{ kind: 'Secret', name: 'a' }] }, patches: [{}] },
        ...{ kubeConfig: { secretRef: { name: 'a' } }, decryption: { secretRef: { name: 'a' } }, commonMetadata: {} },
      },
      { metadata },
    ),
  },
  additionalSecretResources: [{ name: 'a', targetName: 'b' }],
  ...{ syncMode: 'Once', deletionPolicy: 'Orphan', suspend: true },
});

type Path = readonly string[];

/** Returns the path of every field, also of those with fields of their own. */
function pathsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [[...above, key], ...pathsOf(field, [...above, key])]);
}

function replaced(value: unknown, [first, ...rest]: Path, by: unknown): unknown {
  if (first === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const fields = copy as Record<string, unknown>;
  fields[first] = replaced(fields[first], rest, by);
  return copy;
}

const settings = { seed: 20_261_122, numRuns: 400 };
const keys = Object.keys(fluxConfigSchema._zod.def.shape);

describe('hostile configurations end with sentences', () => {
  it('with any value in any field of a providerConfig', () => {
    const property = fc.asyncProperty(fc.constantFrom(...pathsOf(full)), hostileValue, async (path, value) => {
      await sentences({ providerConfig: replaced(full, path, value), shootResources: [] });
    });
    return fc.assert(property, settings);
  });

  it('with any text in any key of flux-config', () => {
    const property = fc.asyncProperty(fc.constantFrom(...keys), hostileText, async (key, text) => {
      const data = { repositoryUrl: 'ssh://git@git.example.com/a', repositoryType: 'private', [key]: text };
      const fluxConfig = { namespace: 'garden-foo', data };
      await sentences({ fluxConfig, shoot: { labels: {} } });
      try {
        fluxConfigRepository(fluxConfig);
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
      }
    });
    return fc.assert(property, settings);
  });

  it("with any value in the Shoot's resources", () => {
    const property = fc.asyncProperty(hostileText, hostileText, hostileText, async (apiVersion, kind, resourceName) => {
      const shootResources = [{ name: 'a', apiVersion, kind, resourceName }];
      await sentences({ providerConfig: full, shootResources });
      await sentences({ providerConfig: { additionalSecretResources: [{ name: 'a' }] }, shootResources });
    });
    return fc.assert(property, settings);
  });
});

describe('much of anything within the limits is reported in few words', () => {
  const times = <T>(count: number, entry: (index: number) => T) => Array.from({ length: count }, (_, i) => entry(i));
  const copies = times(100, (i) => ({ name: `n${i}`, targetName: `s${i}` }));
  const corpus: [string, ConfigInputs][] = [
    [
      '70 copies of a resource whose kind has 1.2 million characters',
      {
        ...withTemplates(gitRepository(), kustomization(), {
          additionalSecretResources: times(70, () => ({ name: 'a' })),
        }),
        shootResources: [{ name: 'a', apiVersion: 'v1', kind: 'a '.repeat(600_000), resourceName: 'a' }],
      },
    ],
    [
      '100 copies of missing resources beside ten whose names have 120,000 characters',
      {
        ...withTemplates(gitRepository(), kustomization(), { additionalSecretResources: copies }),
        shootResources: times(10, (i) => ({
          ...{ name: `${i}${'a '.repeat(60_000)}`, apiVersion: 'v1' },
          ...{ kind: 'Secret', resourceName: 'a' },
        })),
      },
    ],
  ];

  it.each(corpus)('%s', async (_, inputs) => {
    await sentences(inputs);
  });
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('the key %s ends with sentences', async (key) => {
  const hostile: unknown = JSON.parse(`{"${key}": {"a": 1}}`);
  expect(await sentences({ providerConfig: hostile })).not.toEqual([]);
  expect(await sentences({ providerConfig: { flux: hostile } })).not.toEqual([]);
  const data = JSON.parse(`{"${key}": "a"}`);
  expect(await sentences({ fluxConfig: { namespace: 'garden-foo', data } })).not.toEqual([]);
});

describe('nearest', () => {
  test('returns the word itself, whatever its case', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), (word) => {
        expect(nearest(word.toUpperCase(), keys)).toBe(word);
        expect(misspelt(word, keys)).toBeUndefined();
      }),
    );
  });

  test('finds a word that lacks a letter', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.nat(), (word, at) => {
        const without = word.slice(0, at % word.length) + word.slice((at % word.length) + 1);
        expect(nearest(without, keys)).toBeDefined();
      }),
    );
  });
});
