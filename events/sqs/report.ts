import type { Cause } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log, LogFields } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Group } from './groups.ts';

/** How a run ended. `isRedelivered`: its oldest message stays in the queue. */
export type Ending =
  | { result: 'done'; isRedelivered?: false }
  | { result: 'requeue'; seconds: number; isRedelivered?: false }
  | { result: 'retry'; seconds: number; error: unknown; isRedelivered?: boolean }
  | { result: 'dead_letter'; error: unknown; isRedelivered?: false };

/** Whose run it was, and where the report goes. */
export interface Reporter {
  /** The function's name. */
  name: string;
  now(): Date;
  log: Log;
  metrics: Metrics;
}

/** Longer lists of causes are cut: one run can answer hundreds of changes from the fan-out. */
const SHOWN_CAUSES = 10;

/** Writes the log line and the metrics of a run: names and numbers only. */
export function report({ name, now, log, metrics }: Reporter, group: Group, ending: Ending, seconds: number): void {
  const { result } = ending;
  const labels = { function: name };
  const [, ...superseded] = group.records;
  const age = (now().getTime() - dueAt(group)) / 1000 - seconds;
  metrics.count('reconcile_total', { ...labels, result });
  metrics.observe('reconcile_seconds', seconds, labels);
  metrics.observe('queue_age_seconds', Math.max(0, age), labels);
  if (result === 'retry') metrics.count('retries_total', labels);
  if (result === 'dead_letter') metrics.count('terminal_total', labels);
  if (superseded.length > 0) metrics.count('coalesced_total', labels, superseded.length);

  const { function: target, key } = group.changes[0];
  const fields: LogFields = {
    function: name,
    ...(target === name ? {} : { for: target }),
    key: keyText(key),
    causes: causesText(group),
    outcome: result,
    ...('seconds' in ending ? { afterSeconds: ending.seconds } : {}),
    durationMs: Math.round(seconds * 1000),
    attempt: group.attempt,
    ...('error' in ending ? { error: describeError(ending.error) } : {}),
  };
  if (result === 'dead_letter') log.error('reconcile finished', fields);
  // A retry after 0 s follows a conflict: another writer was faster, as the guarded writes expect. No warning.
  else if (ending.result === 'retry' && ending.seconds > 0) log.warn('reconcile finished', fields);
  else log.info('reconcile finished', fields);
}

/** Returns when the oldest change became due: time in the delay queue is no delay. */
function dueAt({ records: [record], changes: [{ cause }] }: Group): number {
  const sentAt = Number(record.attributes.SentTimestamp);
  return cause.type === 'notBefore' ? Math.max(sentAt, Date.parse(cause.notBefore)) : sentAt;
}

function causesText({ changes }: Group): string {
  const texts = changes.slice(0, SHOWN_CAUSES).map(({ cause }) => causeText(cause));
  const more = changes.length - texts.length;
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}

function causeText(cause: Cause): string {
  switch (cause.type) {
    case 'object': {
      const place = cause.namespace === undefined ? cause.name : `${cause.namespace}/${cause.name}`;
      return `${cause.kind} ${place} ${cause.deleted === true ? 'deleted' : cause.resourceVersion}`;
    }
    case 'notBefore':
      return `notBefore ${cause.notBefore}`;
    case 'resync':
      return `resync ${cause.epoch}`;
    case 'redrive':
      return `redrive ${cause.nonce}`;
  }
}
