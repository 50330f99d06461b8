// A transport in the memory of this process: how little one needs (docs/add-a-transport.md).
import { afterFailure, retryAfterOf } from '../events/retry.ts';
import { type ProcessDependencies, type QueueFunction, type Run, report, runnerOf, runOnce } from '../events/run.ts';
import type { Transport } from '../events/transport.ts';
import { laterChange } from '../events/waits.ts';
import { RetryableError, TerminalError } from '../shared/errors.ts';
import type { ChangeRequest } from '../shared/runtime/change-request.ts';
import { keyText } from '../shared/runtime/key.ts';

/** A change that was given up. */
export interface GivenUp {
  change: ChangeRequest;
  error: unknown;
}

export interface MemoryTransport extends Transport {
  deadLetters: GivenUp[];
  /** Runs these functions for what arrives, one run of a key at a time. */
  receive(functions: QueueFunction[], dependencies: ProcessDependencies): void;
  /** Takes nothing while it is true. */
  isBroken: boolean;
  /** Drops what waits. */
  stop(): void;
}

export function createMemoryTransport(): MemoryTransport {
  const arrived = new Map<string, ChangeRequest[]>();
  const running = new Set<string>();
  const timers = new Set<NodeJS.Timeout>();
  let run = async (_: [ChangeRequest, ...ChangeRequest[]]): Promise<void> => {};

  const deliver = (id: string): void => {
    const [first, ...others] = arrived.get(id) ?? [];
    if (first === undefined || running.has(id)) return;
    arrived.delete(id);
    running.add(id);
    void run([first, ...others]).finally(() => {
      running.delete(id);
      deliver(id);
    });
  };

  const transport: MemoryTransport = {
    deadLetters: [],
    isBroken: false,

    async send(changes) {
      if (transport.isBroken) throw new RetryableError('The memory is broken.');
      for (const change of changes) {
        const id = `${change.function} ${keyText(change.key)}`;
        arrived.set(id, [...(arrived.get(id) ?? []), change]);
        setImmediate(deliver, id);
      }
    },

    async retryLater(change, seconds) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        void transport.send([change]);
      }, seconds * 1000);
      timers.add(timer);
    },

    receive(functions, dependencies) {
      const send = (changes: ChangeRequest[]) => transport.send(changes);
      const runners = new Map(
        functions.map((each) => [each.definition.name, runnerOf(each, { ...dependencies, send })]),
      );
      run = async (changes) => {
        const begun = performance.now();
        const [{ function: name }] = changes;
        const runner = runners.get(name);
        if (runner === undefined) {
          const error = new TerminalError(`There is no function ${name}; send to one that is received.`);
          return void transport.deadLetters.push({ change: changes[0], error });
        }
        // The freshest counts: what has failed for hours does not use up the attempts of an edit.
        const attempt = 1 + Math.min(...changes.map(({ cause }) => ('attempt' in cause ? (cause.attempt ?? 0) : 0)));
        const described: Run = { changes, attempt, dueAt: runner.now().getTime(), superseded: changes.length - 1 };
        const result = await runOnce(runner, described, AbortSignal.timeout(10_000));
        const ended = () => (performance.now() - begun) / 1000;
        if (result.type === 'done') return report(runner, described, { result: 'done' }, ended());
        if (result.type === 'requeue') {
          const later = laterChange(changes[0], result.afterSeconds, runner.now());
          await transport.retryLater(later.change, later.seconds);
          return report(runner, described, { result: 'requeue', seconds: result.afterSeconds }, ended());
        }
        const { error } = result;
        const next = afterFailure(error, { attempt, isResync: changes.every((each) => each.cause.type === 'resync') });
        if (next.type === 'drop') return report(runner, described, { result: 'dropped', error }, ended());
        if (next.type === 'deadLetter') {
          transport.deadLetters.push({ change: changes[0], error });
          return report(runner, described, { result: 'dead_letter', error }, ended());
        }
        const options = { attempt: next.attempt, atLeastSeconds: retryAfterOf(error) };
        const later = laterChange(changes[0], next.seconds, runner.now(), options);
        await transport.retryLater(later.change, later.seconds);
        return report(runner, described, { result: 'retry', seconds: next.seconds, error }, ended());
      };
    },

    stop() {
      for (const timer of timers) clearTimeout(timer);
      arrived.clear();
    },
  };
  return transport;
}
