import { AsyncLocalStorage } from 'node:async_hooks';

/** Numbers of the runs of this thread, across everything that they wait for. */
const numbers = new AsyncLocalStorage<number>();

let report: (number: number) => void = () => {};

/** Makes a listener learn which run executes in this thread: a process that ends the thread asks which run blocked it. */
export function onActivity(listener: (number: number) => void): void {
  report = listener;
}

/** Does work that belongs to the run of this number. */
export function asRun<T>(number: number, work: () => T): T {
  return numbers.run(number, () => {
    resumed();
    return work();
  });
}

/**
 * Reports that the run continues. To be called when what it has waited for is there, before the work that somebody else
 * can make long. Costs less than a microsecond, and nothing outside of a run.
 */
export function resumed(): void {
  const number = numbers.getStore();
  if (number !== undefined) report(number);
}

/** Returns an object after whose calls the run is reported to continue. */
export function resuming<T extends object>(target: T): T {
  return new Proxy(target, {
    get(inner, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        const result: unknown = Reflect.apply(value, inner, given);
        return result instanceof Promise ? result.finally(resumed) : result;
      };
    },
  });
}
