import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../shared/gardener/error-codes.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { PATIENCE_SECONDS, type Run, retryLater, secondsInFlight } from './run.ts';
import type { Recorded } from './status-changes.ts';

/**
 * Ends a run that lacks something which may still come, such as a copy or a key pair: requeues soon, and reports an error
 * when it takes long.
 */
export async function waitFor(run: Run, sentence: string, recorded: Recorded = {}): Promise<Outcome> {
  const { reporter, isNewlyAsked } = run;
  const { lastOperation: last, lastError } = reporter.current().status ?? {};
  if (!isNewlyAsked && last?.state === 'Error' && lastError?.description === sentence) return retryLater(run);
  const isWaiting = !isNewlyAsked && last?.state === 'Processing' && last.description === sentence;
  const waited = isWaiting ? secondsInFlight(run) : 0;
  if (!isWaiting) await reporter.processing(sentence);
  // Also where it was reported before: the run that did so may have been killed right after.
  await reporter.accept();
  if (waited >= PATIENCE_SECONDS) {
    await reporter.failed(sentence, [RETRYABLE_CONFIGURATION_PROBLEM], recorded);
    return retryLater(run);
  }
  return requeueAfter(5);
}
