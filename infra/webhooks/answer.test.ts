import { describe, expect, it } from 'vitest';
import type { AdmissionAnswer } from '../../shared/kube/admission.ts';
import { reviewOf } from '../../shared/kube/testing.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { type Metrics, noMetrics } from '../../shared/runtime/metrics.ts';
import type { WebhookContext, WebhookHandler } from '../../shared/runtime/webhook.ts';
import { findWebhooks } from '../functions.ts';
import { answererOf, timeLimit } from './answer.ts';

const review = reviewOf({ namespace: 'garden-foo', name: 'bar', object: {} });
const settings = { seeds: [] } as unknown as WebhookContext['settings'];
const [admission, resourceManager] = await findWebhooks();

async function answerOf(webhook: typeof admission, handler: WebhookHandler) {
  if (webhook === undefined) throw new Error('There is no such webhook.');
  const lines: string[] = [];
  const kube = async () => {
    throw new Error('not asked');
  };
  const results: (string | undefined)[] = [];
  const metrics: Metrics = { ...noMetrics, count: (_, labels) => results.push(labels?.result) };
  const dependencies = { kube, settings, metrics, log: createLog('debug', (line) => lines.push(line)) };
  const { body } = await answererOf({ ...webhook, handler }, dependencies)(Buffer.from(review), timeLimit());
  return { response: JSON.parse(body).response, log: lines.join('\n'), results };
}

const failing: WebhookHandler = async () => {
  throw new TypeError('secret');
};

describe('a webhook whose function fails', () => {
  it('allows the request where its failure policy is Ignore', async () => {
    const { response, log, results } = await answerOf(resourceManager, failing);
    expect(results).toEqual(['failed']);
    expect(response).toEqual({
      uid: 'u',
      allowed: true,
      warnings: ['shoot-flux could not answer; see its log for the reason'],
    });
    expect(log).toContain('TypeError');
    expect(log).not.toContain('secret');
  });

  it('rejects the request with a server error where its failure policy is Fail', async () => {
    const { response, results } = await answerOf(admission, failing);
    expect(results).toEqual(['failed']);
    expect(response).toMatchObject({ uid: 'u', allowed: false, status: { code: 500, reason: 'InternalError' } });
  });
});

it('logs each answer and each warning as one line', async () => {
  const { log } = await answerOf(admission, async () => ({ allowed: true, warnings: ['a', 'b'] }));
  const lines = log.split('\n').map((line) => JSON.parse(line));
  expect(lines.map(({ message, key, warning }) => [message, key, warning])).toEqual([
    ['admission warning', 'garden-foo/bar', 'a'],
    ['admission warning', 'garden-foo/bar', 'b'],
    ['admission answered', 'garden-foo/bar', undefined],
  ]);
});

it.each<[string, AdmissionAnswer]>([
  ['allowed', { allowed: true, patch: [] }],
  ['patched', { allowed: true, patch: [{ op: 'add', path: '/a', value: 1 }] }],
  ['refused', { allowed: false, code: 422, reason: 'Invalid', message: 'x' }],
])('counts an answer as %s', async (result, given) => {
  expect((await answerOf(admission, async () => given)).results).toEqual([result]);
});
