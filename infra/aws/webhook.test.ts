import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findWebhooks } from '../functions.ts';
import { webhookHandler } from './webhook.ts';

const shoot = {
  kind: 'Shoot',
  metadata: { name: 'bar' },
  spec: { extensions: [{ type: 'shoot-flux', providerConfig: { typo: 1 } }] },
};
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u', operation: 'CREATE', object: shoot },
});

const lambdaOf = async (name: string) => {
  const webhook = (await findWebhooks()).find(({ definition }) => definition.name === name);
  if (webhook === undefined) throw new Error(`There is no webhook ${name}.`);
  return webhookHandler(webhook);
};

beforeEach(() => {
  vi.stubEnv('KUBECONFIG_SECRET_PREFIX', 'shoot-flux/test/');
  vi.stubEnv('LOG_LEVEL', 'error');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a webhook on Lambda', () => {
  it.each([
    ['a function URL', { version: '2.0', rawPath: '/admission', body: review, isBase64Encoded: false }],
    [
      'a function URL, as bytes',
      { version: '2.0', body: Buffer.from(review).toString('base64'), isBase64Encoded: true },
    ],
    ['a REST API', { httpMethod: 'POST', path: '/prod/admission', body: review, isBase64Encoded: false }],
  ])('answers %s', async (_, event) => {
    const { statusCode, headers, body } = await (await lambdaOf('admission'))(event);
    expect({ statusCode, headers }).toEqual({ statusCode: 200, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(body).response).toMatchObject({ uid: 'u', allowed: false, status: { code: 422 } });
  });

  it.each([
    ['nothing', null, 'The body is not JSON: post an AdmissionReview.\n'],
    [
      'something else',
      '{}',
      'The body is not an AdmissionReview of admission.k8s.io/v1: list v1 in admissionReviewVersions.\n',
    ],
  ])('answers %s with what is wrong', async (_, body, sentence) => {
    const answer = await (await lambdaOf('admission'))({ body, isBase64Encoded: false });
    expect(answer).toMatchObject({ statusCode: 400, body: sentence });
  });
});
