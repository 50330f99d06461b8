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
