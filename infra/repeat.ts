import { describeError } from '../shared/runtime/describe-error.ts';
import { sleep } from '../shared/runtime/sleep.ts';

/**
 * Repeats an attempt until it is stopped.
 * @param attempt returns what is wrong, or throws it; undefined: nothing
 * @param report called where this has changed
 */
export function repeat(
  pauseMs: (problem: string | undefined) => number,
  attempt: (signal: AbortSignal) => Promise<string | undefined>,
  report: (problem: string | undefined) => void,
): { stop(): Promise<void> } {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    let last: string | undefined;
    while (!signal.aborted) {
      const problem = await attempt(signal).catch(describeError);
      if (problem !== last && !signal.aborted) report(problem);
      last = problem;
      await sleep(pauseMs(problem), signal);
    }
  };
  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}
