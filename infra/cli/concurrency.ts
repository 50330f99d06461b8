import { UsageError } from './option.ts';
import { quoted } from './sources/origins.ts';

/** Five times as many runs may wait for a network, each with its own connections. */
const MOST_CONCURRENCY = 1000;

/** Returns the number of `--concurrency`, or undefined when it is absent. @throws UsageError */
export function concurrencyOf(values: { concurrency?: string }): number | undefined {
  const text = values.concurrency;
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 1 && number <= MOST_CONCURRENCY) return number;
  throw new UsageError(`${quoted(values, 'concurrency', text)} is not a whole number from 1 to ${MOST_CONCURRENCY}`);
}
