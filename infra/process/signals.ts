/** The first signal that asks the process to end. A second one ends it at once. */
export function untilSignal(): { first: Promise<NodeJS.Signals> } & Disposable {
  const { promise: first, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const signals = ['SIGTERM', 'SIGINT'] as const;
  for (const signal of signals) process.once(signal, resolve);
  return {
    first,
    [Symbol.dispose]() {
      for (const signal of signals) process.removeListener(signal, resolve);
    },
  };
}
