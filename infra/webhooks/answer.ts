import { type AdmissionAnswer, readReview, reviewOf } from '../../shared/kube/admission.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resuming } from '../../shared/runtime/activity.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { WebhookContext } from '../../shared/runtime/webhook.ts';
import type { WebhookFunction } from '../functions.ts';

/** The default timeout of Kubernetes for webhooks, and the limit for one request. */
export const TIMEOUT_SECONDS = 10;

/** How long before the timeout reads are aborted, so that an answer from what is known by then still arrives in time. */
const EARLY_MS = 2000;

/** More than kube-apiserver sends: two Shoots, of which etcd takes 1.5 MiB each. */
export const MAX_BYTES = 6 * 1024 * 1024;

/** What an answer needs. Clients abort their requests when the signal aborts. */
export interface AnswerDependencies extends Omit<WebhookContext, 'signal' | 'kube'> {
  kube(cluster: string, signal: AbortSignal): Promise<KubeClient>;
  metrics: Metrics;
}

/** An HTTP answer, independent of the server that sends it. */
export interface HttpAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** Returns a signal that aborts when what is known by then should be answered. */
export function timeLimit(): AbortSignal {
  return AbortSignal.timeout(TIMEOUT_SECONDS * 1000 - EARLY_MS);
}

/** Answers the body of a review. @param signal aborts when the answer is due; it counts from the request's first byte */
export type Answerer = (body: Buffer, signal: AbortSignal) => Promise<HttpAnswer>;

/**
 * Returns what answers the reviews of a webhook function. When the function throws, the answer follows its failure policy,
 * so that our log has the reason too, and not only the API server's.
 */
export function answererOf({ definition, handler }: WebhookFunction, dependencies: AnswerDependencies): Answerer {
  return async (body, signal) => {
    const read = readReview(body.toString('utf8'));
    if ('problem' in read) return sentenceAnswer(400, read.problem);
    const { request } = read;
    const key = `${request.namespace ?? ''}/${request.name ?? ''}`;
    const log = dependencies.log.with({ function: definition.name, key, operation: request.operation });
    const startedAt = performance.now();
    const kube = async (cluster: string) => resuming(await dependencies.kube(cluster, signal));
    let hasFailed = false;
    const decision = await handler(request, { ...dependencies, kube, log, signal }).catch((error) => {
      log.error('webhook failed', { error: describeError(error) });
      hasFailed = true;
      return failed(definition.webhook.failurePolicy);
    });
    logAnswer(log, decision);
    const labels = { function: definition.name };
    const result = hasFailed ? 'failed' : resultOf(decision);
    dependencies.metrics.count('webhook_answers_total', { ...labels, result });
    dependencies.metrics.observe('webhook_seconds', (performance.now() - startedAt) / 1000, labels);
    return { status: 200, contentType: 'application/json', body: JSON.stringify(reviewOf(request, decision)) };
  };
}

/** Returns an answer of one sentence, where no review is answered. */
export function sentenceAnswer(status: number, sentence: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

export const tooLong = (most = MAX_BYTES) => sentenceAnswer(413, `The body is longer than ${most} bytes.`);

/** The answer for a function that has failed, as its failure policy says. */
function failed(failurePolicy: 'Fail' | 'Ignore'): AdmissionAnswer {
  const message = 'shoot-flux could not answer; see its log for the reason';
  if (failurePolicy === 'Ignore') return { allowed: true, warnings: [message] };
  return { allowed: false, code: 500, reason: 'InternalError', message };
}

function logAnswer(log: WebhookContext['log'], decision: AdmissionAnswer): void {
  if (decision.allowed) {
    for (const warning of decision.warnings ?? []) log.warn('admission warning', { warning });
    log.info('admission answered', { allowed: true, patched: decision.patch?.length ?? 0 });
  } else {
    log.info('admission answered', { allowed: false, reason: decision.message });
  }
}

/** Returns the result as the metrics label it. */
function resultOf(decision: AdmissionAnswer): 'allowed' | 'patched' | 'refused' {
  if (!decision.allowed) return 'refused';
  return (decision.patch?.length ?? 0) > 0 ? 'patched' : 'allowed';
}
