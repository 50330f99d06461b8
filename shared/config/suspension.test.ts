import { expect, it } from 'vitest';
import { SUSPENDED } from './project-config.ts';
import { suspensionOf } from './suspension.ts';

it.each<[string | undefined, string | undefined]>([
  [undefined, undefined],
  [
    '{"by":"mia","since":"2026-01-02T03:04:05Z","reason":"leaked\\nkey"}',
    'by mia since 2026-01-02T03:04:05Z: leaked key',
  ],
  ['true', `by the annotation ${SUSPENDED} on ConfigMap flux-config: true`],
  ['{"by":"mia"}', `by the annotation ${SUSPENDED} on ConfigMap flux-config: {"by":"mia"}`],
  ['', `by the annotation ${SUSPENDED} on ConfigMap flux-config: `],
])('%j is a suspension %j', (value, expected) => {
  expect(suspensionOf(value === undefined ? {} : { [SUSPENDED]: value })).toBe(expected);
});

it('is bounded', () => {
  const long = 'x '.repeat(5_000);
  expect(suspensionOf({ [SUSPENDED]: JSON.stringify({ by: long, since: long, reason: 'r' }) })?.length).toBeLessThan(
    500,
  );
  expect(
    suspensionOf({ [SUSPENDED]: JSON.stringify({ by: 'a', since: 'b', reason: long }).slice(0, 1_990) }),
  ).toContain('flux-config: {');
});
