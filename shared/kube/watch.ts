import type { IncomingMessage } from 'node:http';
import { isRecord, parsedJson } from '../shapes.ts';
import { answer, invalidAnswer, pieces, tooManyBytes } from './answer.ts';
import { callText, statusError, unreachable } from './call-errors.ts';
import { beginCall, type Stop } from './call-limit.ts';
import type { WatchEvent } from './client.ts';
import { exchange } from './exchange.ts';
import { limitsOf, type Request, type Transport } from './transport.ts';

/** What a watch sends: its `object` is not validated. */
interface SentEvent {
  type: WatchEvent['type'];
  object: unknown;
}

/**
 * Yields the events of one watch request. Ends when the server ends it or `signal` aborts.
 * @throws typed errors, including ERROR events, broken connections, and ClusterDownError when the cluster goes down
 */
export async function* watch(
  transport: Transport,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<SentEvent, void, undefined> {
  const limit = beginCall(transport.options, signal);
  const stopped = () => ['run', 'caller'].includes((limit.signal.reason as Stop | undefined)?.by ?? '');
  // Its connection is as dead as the cluster, but would only be found silent after more than a minute.
  const unsubscribe = transport.options.guard?.onDown((errorOf) =>
    limit.stop({ by: 'down', error: errorOf(callText(request)) }),
  );
  let response: IncomingMessage | undefined;
  try {
    response = await exchange(transport, request, limit);
    if (response.statusCode !== 200) await answer(transport, request, response, limit.signal);
    limit.lift();
    for await (const line of lines(transport, request, response)) {
      if (stopped()) return;
      yield watchEvent(request, line);
    }
  } catch (error) {
    if (stopped()) return;
    throw unreachable(transport, request, error, limit.signal);
  } finally {
    unsubscribe?.();
    limit.end();
    response?.destroy();
  }
}

const types = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] satisfies WatchEvent['type'][];

function watchEvent(request: Request, line: Buffer): SentEvent {
  const event = parsedJson(line.toString('utf8'));
  if (event === undefined) throw invalidAnswer(request, 'the watch ended in the middle of an event');
  const type = isRecord(event) ? types.find((known) => known === event.type) : undefined;
  if (!isRecord(event) || type === undefined)
    throw invalidAnswer(request, 'the watch has sent something other than events');
  if (type === 'ERROR') throw statusError(request, 200, event.object);
  return { type, object: event.object };
}

const newline = 0x0a;

/** Yields the lines of a watch, whose bytes may be split anywhere. */
async function* lines(
  transport: Transport,
  request: Request,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const longest = limitsOf(transport).object;
  const begun = pieces(longest, () => tooManyBytes(request, transport, longest));
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      begun.add(chunk.subarray(start, end));
      const line = begun.take();
      start = end + 1;
      if (!isBlank(line)) yield line;
    }
    begun.add(chunk.subarray(start));
  }
  const rest = begun.take();
  if (!isBlank(rest)) yield rest;
}

/** API servers send empty lines to keep a connection alive. */
function isBlank(line: Buffer): boolean {
  return line.length < 3 && line.toString('latin1').trim() === '';
}
