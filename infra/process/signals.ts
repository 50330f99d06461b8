/** Resolves with the first signal that asks the process to end. A second one ends it at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  return promise;
}
