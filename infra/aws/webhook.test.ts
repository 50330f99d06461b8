import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reviewOf } from '../../shared/kube/testing.ts';
import { shootOf } from '../cli/testing.ts';
import { findWebhooks } from '../functions.ts';
import { webhookHandler } from './webhook.ts';

const token = 'f'.repeat(64);
const hash = createHash('sha256').update(token).digest('hex');

const review = reviewOf({ object: shootOf({ extensions: [{ type: 'shoot-flux', providerConfig: { typo: 1 } }] }) });

const lambdaOf = async (name: string) => {
  const webhook = (await findWebhooks()).find(({ definition }) => definition.name === name);
  if (webhook === undefined) throw new Error(`There is no webhook ${name}.`);
  return webhookHandler(webhook);
};

beforeEach(() => {
  vi.stubEnv('KUBECONFIG_SECRET_PREFIX', 'shoot-flux/test/');
  vi.stubEnv('LOG_LEVEL', 'error');
  vi.stubEnv('WEBHOOK_TOKEN_SHA256', hash);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a webhook on Lambda', () => {
  it.each([
    ['a function URL', { version: '2.0', rawPath: `/admission/${token}`, body: review, isBase64Encoded: false }],
    [
      'a function URL, as bytes',
      { version: '2.0', rawPath: `/${token}`, body: Buffer.from(review).toString('base64'), isBase64Encoded: true },
    ],
    ['a REST API', { httpMethod: 'POST', path: `/prod/admission/${token}`, body: review, isBase64Encoded: false }],
  ])('answers %s', async (_, event) => {
    const { statusCode, headers, body } = await (await lambdaOf('admission'))(event);
    expect({ statusCode, headers }).toEqual({ statusCode: 200, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(body).response).toMatchObject({ uid: 'u', allowed: false, status: { code: 422 } });
  });

  it.each([
    ['no token', '/admission'],
    ['a very long token', `/${'f'.repeat(100_000)}`],
    ['the hash of the token', `/${hash}`],
  ])('answers a URL with %s with 404, and reads nothing', async (_, rawPath) => {
    const event = {
      rawPath,
      isBase64Encoded: false,
      get body(): string {
        throw new Error('The body was read.');
      },
    };
    const answer = await (await lambdaOf('resource-manager-webhook'))(event);
    expect(answer).toMatchObject({ statusCode: 404, body: 'Not found.\n' });
  });

  it('accepts two tokens while one is replaced', async () => {
    vi.stubEnv('WEBHOOK_TOKEN_SHA256', `${'0'.repeat(64)}, ${hash}`);
    const answer = await (await lambdaOf('admission'))({ rawPath: `/${token}`, body: review, isBase64Encoded: false });
    expect(answer.statusCode).toBe(200);
  });

  it.each([
    ['is not set', '', 'is not set, so every request is refused'],
    ['is a token instead of its hash', 'my-token', undefined],
  ])('answers nothing when the setting %s', async (_, value, logged) => {
    vi.stubEnv('WEBHOOK_TOKEN_SHA256', value);
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const answering = (await lambdaOf('admission'))({ rawPath: '/', body: review, isBase64Encoded: false });
    if (logged === undefined) await expect(answering).rejects.toThrow('must be the SHA-256 hash of a token');
    else {
      expect(await answering).toMatchObject({ statusCode: 404 });
      expect(String(written.mock.calls)).toContain(logged);
    }
    written.mockRestore();
  });
});
