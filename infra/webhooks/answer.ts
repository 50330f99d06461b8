import { type AdmissionAnswer, readReview, reviewOf } from '../../shared/kube/admission.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { WebhookContext } from '../../shared/runtime/webhook.ts';
import type { WebhookFunction } from '../functions.ts';

/** Kubernetes' own default, and the time that a request may take in all. */
export const TIMEOUT_SECONDS = 10;

/** So long before its end the answer is given with what is known by then, or the API server would not wait for it. */
const EARLY_MS = 2000;

/** What a webhook works with: clients break their requests off when the signal aborts. */
export interface Surroundings extends Omit<WebhookContext, 'signal' | 'kube'> {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  metrics: Metrics;
}

/** An answer as HTTP takes it, whatever server it goes through. */
export interface HttpAnswer {
  status: number;
  contentType: string;
  body: string;
}

/**
 * Answers the body of one request to a webhook. What the function itself does wrong is answered as its failure policy
 * says, so that a log tells it and not only the API server's.
 */
export async function answer(
  { definition, handler }: WebhookFunction,
  body: string,
  surroundings: Surroundings,
): Promise<HttpAnswer> {
  const read = readReview(body);
  if ('problem' in read) return { status: 400, contentType: 'text/plain; charset=utf-8', body: `${read.problem}\n` };
  const { request } = read;
  const log = surroundings.log.with({
    function: definition.name,
    operation: request.operation,
    key: `${request.namespace ?? ''}/${request.name ?? ''}`,
  });
  const begin = performance.now();
  const signal = AbortSignal.timeout(TIMEOUT_SECONDS * 1000 - EARLY_MS);
  const kube = (cluster: string) => surroundings.kube(cluster, signal);
  const { given, hasFailed } = await run(definition.webhook.failurePolicy, log, () =>
    handler(request, { ...surroundings, kube, log, signal }),
  );
  report(log, given);
  const labels = { function: definition.name };
  surroundings.metrics.count('webhook_answers_total', { ...labels, result: hasFailed ? 'failed' : resultOf(given) });
  surroundings.metrics.observe('webhook_seconds', (performance.now() - begin) / 1000, labels);
  return { status: 200, contentType: 'application/json', body: JSON.stringify(reviewOf(request, given)) };
}

async function run(
  failurePolicy: 'Fail' | 'Ignore',
  log: WebhookContext['log'],
  decide: () => Promise<AdmissionAnswer>,
): Promise<{ given: AdmissionAnswer; hasFailed: boolean }> {
  try {
    return { given: await decide(), hasFailed: false };
  } catch (error) {
    log.error('no answer', { error: describeError(error) });
    const message = 'shoot-flux could not answer: its log tells why';
    const given: AdmissionAnswer =
      failurePolicy === 'Ignore'
        ? { allowed: true, warnings: [message] }
        : { allowed: false, code: 500, reason: 'InternalError', message };
    return { given, hasFailed: true };
  }
}

function report(log: WebhookContext['log'], given: AdmissionAnswer): void {
  if (given.allowed) {
    for (const warning of given.warnings ?? []) log.warn('warned', { warning });
    log.info('answered', { allowed: true, patched: given.patch?.length ?? 0 });
  } else {
    log.info('answered', { allowed: false, reason: given.message });
  }
}

/** For the metrics. */
function resultOf(given: AdmissionAnswer): 'allowed' | 'patched' | 'refused' {
  if (!given.allowed) return 'refused';
  return (given.patch?.length ?? 0) > 0 ? 'patched' : 'allowed';
}
