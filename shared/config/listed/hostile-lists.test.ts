import { expect, test } from 'vitest';
import { problems } from '../config.fixtures.ts';
import { limits, MOST_ISSUES_OF_A_PART } from '../limits.ts';
import { git, kustomize, withLists } from './testing.ts';

const count = limits.objects.most;
const circle = Array.from({ length: count - 1 }, (_, index) =>
  kustomize(`k${index}`, 'a', { dependsOn: [{ name: `k${(index + 1) % (count - 1)}` }] }),
);
const typos = Array.from({ length: count }, (_, index) =>
  kustomize(`k${index}`, 'b', { dependsOn: Array.from({ length: 15 }, (_, other) => ({ name: `x${other}` })) }),
);

test('a circle through all objects gives one sentence', () => {
  const found = problems(withLists({ objects: [git('a'), ...circle] }));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain('objects[1].spec.dependsOn is circular: it waits for flux-system/k1, which waits for ');
});

test('thousands of wrong references give few sentences', () => {
  expect(problems(withLists({ objects: typos }))).toHaveLength(MOST_ISSUES_OF_A_PART);
});

test('a kind and a namespace that are texts are quoted in part, on one line', () => {
  const text = 'https://user:hunter2@host/\n'.repeat(2000);
  const sourceRef = { kind: text, namespace: text, name: 'a' };
  const object = kustomize('k', '', { sourceRef });
  for (const flux of [{}, { multiTenancy: true }]) {
    const found = problems(withLists({ flux, objects: [object] })).join('; ');
    expect(found).toMatch(/objects\[0\]\.spec\.sourceRef names (an object|"https)/);
    expect(found).not.toMatch(/hunter2|\n/);
    expect(found.length).toBeLessThan(1200);
  }
});

const times = <T>(amount: number, entry: (index: number) => T) => Array.from({ length: amount }, (_, i) => entry(i));
const generator = (artifacts: string[]) => ({
  kind: 'ArtifactGenerator',
  metadata: { name: 'g' },
  spec: { sources: [], artifacts: artifacts.map((name) => ({ name, copy: [] })) },
});
const readsArtifact = (name: string, artifact: string) =>
  kustomize(name, '', { sourceRef: { kind: 'ExternalArtifact', name: artifact } });
const alert = (names: string[]) => ({
  kind: 'Alert',
  metadata: { name: 'a' },
  spec: { eventSources: names.map((name) => ({ kind: 'Kustomization', name })) },
});

/** What it is -> the objects, and how many sentences they give. Each took up to some seconds, the first one a minute. */
const searches: [string, object[], number][] = [
  [
    'two names of 60,000 characters',
    [generator(['x'.repeat(60_000)]), readsArtifact('k', `${'x'.repeat(59_999)}y`)],
    1,
  ],
  [
    'many names of the greatest length that is compared, all of them close',
    [
      generator(times(1200, (i) => `${'x'.repeat(52)}-generator-${i}`.slice(-60))),
      ...times(50, (i) => readsArtifact(`k${i}`, `${'x'.repeat(51)}-generatir-${i}`.slice(-60))),
    ],
    MOST_ISSUES_OF_A_PART,
  ],
  [
    'a thousand event sources from other repositories',
    [
      alert(times(1200, (i) => `${'a'.repeat(40)}-${i}-bbbbbbbb`)),
      { kind: 'Provider', metadata: { name: 'p' }, spec: {} },
      git('a'),
      ...times(90, (i) => kustomize(`${'a'.repeat(40)}-${i}-cccccccc`, 'a')),
    ],
    0,
  ],
];

test.each(searches)('the nearest of %s is found or not at all', (_, objects, sentences) => {
  const inputs = withLists({ objects });
  expect(problems(inputs)).toHaveLength(sentences);
});

test('credentials of a hundred sources are found among twenty thousand entries of the Shoot', () => {
  const entry = (name: string) => ({ name, apiVersion: 'v1', kind: 'Secret', resourceName: `of-${name}` });
  const names = times(20_000, (i) => `r${i}`);
  const sources = names.slice(-98).map((secretResourceName) => {
    const spec = { url: 'https://example.org/fleet', ref: { branch: 'main' }, secretRef: { name: secretResourceName } };
    const template = { kind: 'GitRepository', metadata: { name: secretResourceName }, spec };
    return { secretResourceName, template };
  });
  const additionalSecretResources = names.slice(-200, -100).map((name) => ({ name }));
  const kustomizations = [{ template: { spec: { path: './' } } }];
  const inputs = {
    ...withLists({ sources, kustomizations, additionalSecretResources }),
    shootResources: names.map(entry),
  };
  expect(problems(inputs)).toEqual([]);
});
