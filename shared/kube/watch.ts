import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import type { WatchEvent } from './client.ts';
import { UnreachableError } from './errors.ts';
import { callText, statusError } from './status-error.ts';
import { answer, exchange, type Request, type Transport, unreachable, withTimeLimit } from './transport.ts';

/**
 * Yields the events of one watch request. Ends when the server ends it or `signal` aborts.
 * @throws typed errors, including ERROR events and broken connections
 */
export async function* watch(
  transport: Transport,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  let response: IncomingMessage | undefined;
  const abort = () => response?.destroy();
  const stops = [signal, transport.options.signal].filter((stop) => stop !== undefined);
  const stopped = () => stops.some((stop) => stop.aborted);
  for (const stop of stops) stop.addEventListener('abort', abort);
  try {
    response = await withTimeLimit(transport, (limit) => begin(transport, request, limit), signal);
    for await (const line of lines(response)) {
      if (stopped()) return;
      yield watchEvent(request, line);
    }
  } catch (error) {
    if (stopped()) return;
    throw unreachable(transport, request, error, signal);
  } finally {
    for (const stop of stops) stop.removeEventListener('abort', abort);
    response?.destroy();
  }
}

async function begin(transport: Transport, request: Request, limit: AbortSignal): Promise<IncomingMessage> {
  const response = await exchange(transport, request, limit);
  return response.statusCode === 200 ? response : answer(transport, request, response, limit);
}

function watchEvent(request: Request, line: string): WatchEvent {
  const event = parse(line);
  if (event === undefined) {
    throw new UnreachableError(`${callText(request)}: the watch ended in the middle of an event`, 0, 'InvalidAnswer');
  }
  if (event.type === 'ERROR') throw statusError(request, 200, event.object);
  return event;
}

/** Returns undefined on failure: the parser's message quotes the text. */
function parse(line: string): WatchEvent | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Yields the lines of a byte stream, which may split characters and lines anywhere. Skips empty lines. */
async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  // Pieces of a long line are joined once: adding each to a growing string would flatten it again and again.
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const parts = decoder.write(chunk).split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      const line = pieces.length === 0 ? part : pieces.join('') + part;
      pieces = [];
      if (line.trim() !== '') yield line;
    }
    if (last !== '') pieces.push(last);
  }
  const rest = pieces.join('') + decoder.end();
  if (rest.trim() !== '') yield rest;
}
