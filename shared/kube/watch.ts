import type { IncomingMessage } from 'node:http';
import { yieldToOthers } from '../event-loop.ts';
import { answer, invalidAnswer, mostParts, tooManyBytes, tooManyParts } from './answer.ts';
import { LARGE_ANSWER } from './answer-limits.ts';
import { type CallLimit, withCallLimit } from './call-limit.ts';
import type { WatchEvent } from './client.ts';
import type { ClusterDownError } from './errors.ts';
import { exchange } from './exchange.ts';
import { createGrowingBytes } from './growing-bytes.ts';
import { countParts } from './json-parts.ts';
import { cutJson } from './read-large.ts';
import { callText, statusError } from './status-error.ts';
import { limitsOf, type Request, type Transport } from './transport.ts';
import { unreachable } from './unreachable.ts';
import { isRecord } from './valid-object.ts';

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
  onUnreadable?: (error: Error) => void,
): AsyncGenerator<SentEvent, void, undefined> {
  let response: IncomingMessage | undefined;
  let down: ClusterDownError | undefined;
  const abort = () => response?.destroy();
  const stops = [signal, transport.options.signal].filter((stop) => stop !== undefined);
  const stopped = () => stops.some((stop) => stop.aborted);
  for (const stop of stops) stop.addEventListener('abort', abort);
  // Its connection is as dead as the cluster, but would only be found silent after more than a minute.
  const unsubscribe = transport.options.guard?.onDown((errorOf) => {
    down = errorOf(callText(request));
    abort();
  });
  try {
    response = await withCallLimit(transport.options, (limit) => begin(transport, request, limit), { signal });
    for await (const line of lines(response, limitsOf(transport).object)) {
      if (stopped()) return;
      if (line === undefined) throw tooManyBytes(request, transport, limitsOf(transport).object);
      const readable = await withoutOversized(transport, request, line, onUnreadable);
      if (readable === undefined) continue;
      const event = watchEvent(request, readable);
      if (readable.length > LARGE_ANSWER) await yieldToOthers();
      yield event;
    }
  } catch (error) {
    if (stopped()) return;
    throw down ?? unreachable(transport, request, error, signal);
  } finally {
    unsubscribe?.();
    for (const stop of stops) stop.removeEventListener('abort', abort);
    response?.destroy();
  }
}

/** Returns the JSON of an event; undefined when it is skipped. */
async function withoutOversized(
  transport: Transport,
  request: Request,
  line: Buffer,
  onUnreadable?: (error: Error) => void,
): Promise<Buffer | undefined> {
  const { cut } = limitsOf(transport);
  const most = mostParts(request, transport, onUnreadable);
  if (countParts(line, most) <= most) return line;
  const json = cut ? await cutJson(line, most, 1) : undefined;
  if (json !== undefined) return Buffer.from(json);
  const error = tooManyParts(request, transport, most);
  if (onUnreadable === undefined) throw error;
  onUnreadable(error);
  return undefined;
}

async function begin(transport: Transport, request: Request, limit: CallLimit): Promise<IncomingMessage> {
  const response = await exchange(transport, request, limit);
  return response.statusCode === 200 ? response : answer(transport, request, response, limit);
}

const types = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] satisfies WatchEvent['type'][];

function watchEvent(request: Request, line: Buffer): SentEvent {
  const event = parse(line);
  if (event === undefined) throw invalidAnswer(request, 'the watch ended in the middle of an event');
  const type = isRecord(event) ? types.find((known) => known === event.type) : undefined;
  if (!isRecord(event) || type === undefined)
    throw invalidAnswer(request, 'the watch has sent something other than events');
  if (type === 'ERROR') throw statusError(request, 200, event.object);
  return { type, object: event.object };
}

/** Returns undefined on failure: the parser's message quotes the text. */
function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}

const newline = 0x0a;

/** Yields the lines of a byte stream, which may split them anywhere; undefined for a line that is too long. */
async function* lines(
  chunks: AsyncIterable<Buffer>,
  longest: number,
): AsyncGenerator<Buffer | undefined, void, undefined> {
  const begun = createGrowingBytes();
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      begun.add(chunk.subarray(start, end));
      const line = begun.all();
      begun.clear();
      start = end + 1;
      if (!isBlank(line)) yield line;
    }
    begun.add(chunk.subarray(start));
    if (begun.length > longest) yield undefined;
  }
  const rest = begun.all();
  if (!isBlank(rest)) yield rest;
}

/** API servers send empty lines to keep a connection alive. */
function isBlank(line: Buffer): boolean {
  return line.length < 3 && line.toString('latin1').trim() === '';
}
