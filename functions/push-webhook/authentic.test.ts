import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hasCredentials, isAuthentic } from './authentic.ts';

const token = 'a-token-that-is-long-enough';
const body = Buffer.from('{"a":1}');
const hex = (by: string) => createHmac('sha256', by).update(body).digest('hex');

describe('isAuthentic', () => {
  it.each([
    ['x-hub-signature-256', `sha256=${hex(token)}`],
    ['x-hub-signature', `sha256=${hex(token)}`],
    ['x-gitea-signature', hex(token)],
    ['x-signature', `sha256=${hex(token).toUpperCase()}`],
    ['x-gitlab-token', token],
  ])('accepts %s', (header, value) => {
    expect(isAuthentic(token, { [header]: value }, body)).toBe(true);
    expect(isAuthentic(token, { [header]: value }, Buffer.from('{"a":2}'))).toBe(header === 'x-gitlab-token');
    expect(isAuthentic('another-token-as-long', { [header]: value }, body)).toBe(false);
  });

  it('accepts nothing where there is no token, or a short one', () => {
    for (const none of ['', 'short']) {
      expect(isAuthentic(none, { 'x-gitlab-token': none }, body)).toBe(false);
      expect(isAuthentic(none, { 'x-hub-signature-256': `sha256=${hex(none)}` }, body)).toBe(false);
    }
  });

  it('takes no other hash, and nothing without a header', () => {
    const sha1 = createHmac('sha1', token).update(body).digest('hex');
    expect(isAuthentic(token, { 'x-hub-signature': `sha1=${sha1}` }, body)).toBe(false);
    expect(isAuthentic(token, { 'x-hub-signature-256': ['sha256=', hex(token)] }, body)).toBe(false);
    expect(hasCredentials({ 'x-gitlab-token': '' })).toBe(false);
    expect(hasCredentials({ 'x-signature': 'x' })).toBe(true);
  });
});
