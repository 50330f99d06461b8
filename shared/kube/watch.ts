import type { IncomingMessage } from 'node:http';
import type { WatchEvent } from './client.ts';
import { UnreachableError } from './errors.ts';
import { lines } from './lines.ts';
import { callText, statusError } from './status-error.ts';
import { answer, exchange, type Request, type Transport, unreachable, withTimeLimit } from './transport.ts';

/**
 * The events of one watch request. Ends when the server ends it or `signal` aborts.
 * @throws typed errors, also for an ERROR event and for a connection that breaks
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
    throw new UnreachableError(`${callText(request)}: the watch broke off within an event`, 0, 'InvalidAnswer');
  }
  if (event.type === 'ERROR') throw statusError(request, 200, event.object);
  return event;
}

/** Without the parser's message, which quotes the text. */
function parse(line: string): WatchEvent | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
