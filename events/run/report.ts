import type { Cause } from '../../shared/runtime/change-request.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { keyText } from '../../shared/runtime/key.ts';
import type { LogFields } from '../../shared/runtime/log.ts';
import type { Run, Runner } from './runner.ts';

/** How a run ended. */
export type Ending =
  | { result: 'done' }
  | { result: 'requeue'; seconds: number }
  /** Without seconds: the broker decides when. */
  | { result: 'retry'; seconds?: number; error: unknown }
  /** A resync that has failed: the next one is its retry. */
  | { result: 'dropped'; error: unknown }
  | { result: 'dead_letter'; error: unknown };

/** Longer lists of causes are cut: one run can answer hundreds of changes from the fan-out. */
const SHOWN_CAUSES = 10;

/** Writes the log line and the metrics of a run: names and numbers only. */
export function report(
  runner: Pick<Runner, 'name' | 'now' | 'log' | 'metrics'>,
  run: Run,
  ending: Ending,
  seconds: number,
): void {
  const { name, now, log, metrics } = runner;
  const { result } = ending;
  const labels = { function: name };
  const age = (now().getTime() - run.dueAt) / 1000 - seconds;
  metrics.count('reconcile_total', { ...labels, result });
  metrics.observe('reconcile_seconds', seconds, labels);
  metrics.observe('queue_age_seconds', Math.max(0, age), labels);
  if (result === 'retry') metrics.count('retries_total', labels);
  if (result === 'dead_letter') metrics.count('terminal_total', labels);
  if (run.superseded > 0) metrics.count('coalesced_total', labels, run.superseded);

  const { function: target, key } = run.changes[0];
  const fields: LogFields = {
    function: name,
    ...(target === name ? {} : { for: target }),
    key: keyText(key),
    causes: causesText(run),
    outcome: result,
    ...('seconds' in ending ? { afterSeconds: ending.seconds } : {}),
    durationMs: Math.round(seconds * 1000),
    attempt: run.attempt,
    ...('error' in ending ? { error: describeError(ending.error) } : {}),
  };
  if (result === 'dead_letter') log.error('reconcile finished', fields);
  // A retry after 0 s follows a conflict: another writer was faster, as the guarded writes expect. No warning.
  else if (result === 'dropped' || (ending.result === 'retry' && ending.seconds !== 0))
    log.warn('reconcile finished', fields);
  else log.info('reconcile finished', fields);
}

function causesText({ changes, superseded }: Run): string {
  const texts = changes.slice(0, SHOWN_CAUSES).map(({ cause }) => causeText(cause));
  const more = superseded + 1 - texts.length;
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
    case 'continue':
      return `continue after ${cause.after} (run ${cause.hop + 1})`;
    case 'resync':
      return `resync ${cause.epoch}`;
    case 'redrive':
      return `redrive ${cause.nonce}`;
  }
}
