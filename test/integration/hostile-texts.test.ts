import { expect, test } from 'vitest';
import { statusError } from '../../shared/kube/call-errors.ts';
import { resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';

test('a message of an API server is cut where it arrives, with all that quotes it', () => {
  const body = {
    kind: 'Status',
    reason: 'r'.repeat(40_000),
    message: 'a'.repeat(40_000),
    details: { causes: Array.from({ length: 10_000 }, () => ({ field: 'f'.repeat(1000) })) },
  };
  const call = { method: 'PATCH', resource: resources.deployments, name: { namespace: 'a', name: 'b' } };
  const error = statusError(call, 422, body);
  expect(error.message.length).toBeLessThan(5500);
  expect(error.reason.length).toBeLessThanOrEqual(100);
  expect(describeError(error).length).toBeLessThanOrEqual(1001);
  expect(describeError(error)).toMatch(/^PATCH deployments\.apps a\/b: 422 r+: a+…$/);
  const ofSecret = statusError({ ...call, resource: resources.secrets }, 422, body);
  expect(ofSecret.message).toMatch(/: see f{200}(, f{200}){19}$/);
});

test.each([
  ['no details', undefined],
  ['details that are a text', 'x'],
  ['causes that are not a list', { causes: 7, retryAfterSeconds: '5' }],
  ['causes that are not objects', { causes: [null, 7, 'x', { field: {} }] }],
])('a Status with %s is an ordinary failure', (_, details) => {
  const error = statusError({ method: 'GET', resource: resources.secrets }, 500, { kind: 'Status', details });
  expect(error).toMatchObject({ status: 500, retryAfterSeconds: undefined });
  expect(error.message).toContain('withheld');
});

test.each([
  ['7', 7],
  [' 7 ', 7],
  ['0', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['soon', undefined],
  ['', undefined],
  ['999999999', 3600],
  ['9'.repeat(400), 3600],
  [new Date(Date.now() - 60_000).toUTCString(), undefined],
  [new Date(Date.now() + 86_400_000).toUTCString(), 3600],
])('Retry-After "%s" asks for %s seconds', (header, seconds) => {
  const error = statusError({ method: 'GET', resource: resources.secrets }, 429, undefined, { 'retry-after': header });
  expect(error.retryAfterSeconds).toBe(seconds);
});

test('what a text shows is visible and well-formed: no control characters, no reversed text, no half characters', () => {
  const shown = safeText('a\u001b[31mred\u0000\u202eevil\u2028\ud800b\u200b🙂');
  expect(shown).toBe('ared evil b 🙂');
});

test('a secret at the place where a message is cut stays hidden', () => {
  const url = 'https://user:hunter2hunter2@git.example.com/a';
  for (let before = 4950; before <= 5001; before++) {
    const text = `-----BEGIN PRIVATE KEY-----${'x'.repeat(before - 60)}-----END PRIVATE KEY----- ${url} ghp_${'a1'.repeat(20)}`;
    const shown = safeText(text, 5000);
    expect(shown).not.toMatch(/hunter|a1a1/);
  }
});
