import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { isNewlyAsked } from '../../../shared/gardener/operation.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import type { Run } from '../run.ts';

/** A copy that lags or a key that is being made gets this long before the user hears of it. */
const PATIENCE_SECONDS = 20;

/** Something the configuration names is not there yet: look again soon, and say so when it takes long. */
export async function waitFor(run: Run, sentence: string): Promise<Outcome> {
  const { reporter, context } = run;
  const status = reporter.current().status;
  const last = status?.lastOperation;
  const asked = isNewlyAsked(reporter.current());
  if (!asked && last?.state === 'Error' && status?.lastError?.description === sentence) return requeueAfter(60);
  const began = !asked && last?.state === 'Processing' && last.description === sentence;
  const waited = began ? (context.now().getTime() - Date.parse(last.lastUpdateTime)) / 1000 : 0;
  if (!began) await reporter.processing(sentence);
  // Also where it was told before: whoever told it may have been killed right after.
  await reporter.accept();
  if (waited >= PATIENCE_SECONDS) {
    await reporter.failed(sentence, [RETRYABLE_CONFIGURATION_PROBLEM]);
    return requeueAfter(30);
  }
  return requeueAfter(5);
}
