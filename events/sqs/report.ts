import type { Cause } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { Log, LogFields } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Group } from './groups.ts';

/** How a run ended. `comesAgain`: its oldest message stays in the queue. */
export type Ending =
  | { result: 'done'; comesAgain?: false }
  | { result: 'requeue'; seconds: number; comesAgain?: false }
  | { result: 'retry'; seconds: number; error: unknown; comesAgain?: boolean }
  | { result: 'dead_letter'; error: unknown; comesAgain?: false };

/** Whose run it was, and where the report goes. */
export interface Reporter {
  /** The function's name. */
  name: string;
  now(): Date;
  log: Log;
  metrics: Metrics;
}

/** Longer lists of causes are cut: a fan-out can collapse hundreds. */
const SHOWN_CAUSES = 10;

/** One log line and the metrics of a run. Names and numbers only. */
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
  if (result === 'dead_letter') log.error('run', fields);
  // Somebody else was faster, which the guarded writes are made for, and it is read again at once.
  else if (ending.result === 'retry' && ending.seconds > 0) log.warn('run', fields);
  else log.info('run', fields);
}

/** When the oldest change could first have been run: what waits in the delay queue on purpose is not late. */
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
