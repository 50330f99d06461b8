import type { IncomingMessage } from 'node:http';
import { yieldToOthers } from '../event-loop.ts';
import { LARGE_ANSWER, sizeText } from './answer-limits.ts';
import { type CallLimit, expiry } from './call-limit.ts';
import { AnswerTooLargeError, UnreachableError } from './errors.ts';
import { createGrowingBytes } from './growing-bytes.ts';
import { countParts } from './json-parts.ts';
import { limitReceived } from './received.ts';
import { callText, statusError } from './status-error.ts';
import { limitsOf, type Request, type Transport } from './transport.ts';
import { unreachable } from './unreachable.ts';

/** Returns the answer's JSON. @throws the typed error of a failed call, AnswerTooLargeError */
export async function answer<T>(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  limit: CallLimit,
): Promise<T> {
  const status = response.statusCode ?? 0;
  const good = status >= 200 && status < 300;
  if (!good) throw statusError(request, status, await failure(transport, request, response, limit), response.headers);
  const max = request.maxBytes ?? limitsOf(transport).object;
  const read = request.read ?? ((body) => readJson(body, transport, request, request.readLarge));
  const turn = turnOf(transport, limit);
  try {
    const body = bounded(transport, request, response, max, limit, turn.begin);
    return (await whileReading(response, limit, () => read(body))) as T;
  } catch (error) {
    // The parser's own message quotes the text, which may be a Secret.
    if (error instanceof SyntaxError && !limit.signal.aborted) throw invalidAnswer(request, 'the answer is not JSON');
    throw unreachable(transport, request, error instanceof SyntaxError ? undefined : error, limit.signal);
  } finally {
    turn.end();
  }
}

/**
 * A large answer may keep its turn for so long while others wait: one that stops growing would hold it until the end of
 * its call, and four such shoots would hold all turns.
 */
const TURN_MS = 1000;

/** The turn of one answer, which begins when the answer turns out to be large. */
function turnOf({ options: { largeAnswers } }: Transport, { signal, stop }: CallLimit) {
  let end: (() => void) | undefined;
  return {
    async begin() {
      if (end !== undefined || largeAnswers === undefined) return;
      const endTurn = await largeAnswers.take(signal);
      const patience = expiry(TURN_MS, () => (largeAnswers.areWanted() ? stop({ by: 'turn' }) : patience.restart()));
      end = () => {
        patience.end();
        endTurn();
      };
    },
    end: () => end?.(),
  };
}

/** Returns the error for an answer that no API server gives. */
export function invalidAnswer(request: Request, problem: string): UnreachableError {
  return new UnreachableError(`${callText(request)}: ${problem}`, 0, 'InvalidAnswer');
}

/**
 * Returns the most parts of an object in a list or watch. With a listener for unreadable ones, it is the watcher, which
 * only compares them; of metadata alone it compares `managedFields`, too.
 */
export function mostParts({ accept = '' }: Request, transport: Transport, onUnreadable: unknown): number {
  const { parts, compared } = limitsOf(transport);
  return onUnreadable === undefined || accept.includes('as=') ? parts : compared;
}

/** Returns the error for an object with too many parts. */
export function tooManyParts(
  request: Request,
  transport: Transport,
  most = limitsOf(transport).parts,
): AnswerTooLargeError {
  return new AnswerTooLargeError(
    `${callText(request)}: an object in the answer of ${serverName(transport)} has more than ` +
      `${most} values and keys, so it is not read; make it smaller`,
  );
}

/** Returns the error for an answer with too many bytes. */
export function tooManyBytes(request: Request, transport: Transport, max: number): AnswerTooLargeError {
  return new AnswerTooLargeError(
    `${callText(request)}: the answer of ${serverName(transport)} is larger than ${sizeText(max)}, so it is not read; ` +
      'make the objects smaller, or remove some',
  );
}

/** Returns the error for a list with too many objects. */
export function tooManyItems(request: Request, transport: Transport): AnswerTooLargeError {
  return new AnswerTooLargeError(
    `${callText(request)}: ${serverName(transport)} has answered with more than ${limitsOf(transport).items} objects, ` +
      'so the list is not read; remove some',
  );
}

/** Returns the error for so many bytes without an answer. */
export function noAnswerIn(request: Request, transport: Transport, bytes: number): UnreachableError {
  const problem = `${serverName(transport)} sends more than ${sizeText(bytes)} before it answers, so the answer is not read`;
  return invalidAnswer(request, `${problem}; check what sends it`);
}

function serverName({ options, server }: Transport): string {
  return options.name ?? server.host;
}

/** Returns the parsed answer to a failed call; undefined when it is too long, or no JSON. */
async function failure(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  limit: CallLimit,
): Promise<unknown> {
  const max = limitsOf(transport).error;
  try {
    return await whileReading(response, limit, () =>
      readJson(bounded(transport, request, response, max, limit), transport, request),
    );
  } catch (error) {
    if (limit.signal.aborted) throw unreachable(transport, request, undefined, limit.signal);
    if (error instanceof SyntaxError || error instanceof AnswerTooLargeError) return undefined;
    throw unreachable(transport, request, error, limit.signal);
  }
}

async function readJson(
  body: AsyncIterable<Buffer>,
  transport: Transport,
  request: Request,
  readLarge?: Request['readLarge'],
): Promise<unknown> {
  const received = createGrowingBytes();
  for await (const chunk of body) received.add(chunk);
  const json = received.all();
  const { parts } = limitsOf(transport);
  if (countParts(json, parts) > parts) {
    if (readLarge !== undefined) return readLarge(json);
    throw tooManyParts(request, transport);
  }
  if (json.length <= LARGE_ANSWER) return JSON.parse(json.toString('utf8'));
  // Reading, parsing, and the work that follows each take milliseconds.
  await yieldToOthers();
  const value: unknown = JSON.parse(json.toString('utf8'));
  await yieldToOthers();
  return value;
}

/**
 * API servers send a kilobyte or more at a time. Each piece costs microseconds: a million of one byte keeps the process
 * busy.
 */
const SMALL_PIECE = 64;
const MOST_SMALL_PIECES = 10_000;

/**
 * Chunks of one byte arrive joined, but six times as much is received for them, which costs the same. The bytes are for
 * what arrives with the headers, and for trailers.
 */
const MOST_RECEIVED = { times: 2, andBytes: 48 * 1024 };

function tooSmallPieces(request: Request, transport: Transport): UnreachableError {
  const problem = `the answer of ${serverName(transport)} arrives in pieces of a few bytes, so it is not read; check what sends it`;
  return invalidAnswer(request, problem);
}

/** Yields the chunks of an answer up to a limit. */
async function* bounded(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  max: number,
  limit: CallLimit,
  beginTurn = async () => {},
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  let pieces = 0;
  const most = () => MOST_RECEIVED.times * (bytes + response.readableLength) + MOST_RECEIVED.andBytes;
  const endLimit = limitReceived(response.socket, most, () => response.destroy(tooSmallPieces(request, transport)));
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      limit.progressed();
      bytes += chunk.length;
      pieces++;
      if (bytes > max) throw tooManyBytes(request, transport, max);
      if (pieces > MOST_SMALL_PIECES && bytes < pieces * SMALL_PIECE) throw tooSmallPieces(request, transport);
      if (bytes > LARGE_ANSWER) await beginTurn();
      yield chunk;
    }
  } finally {
    endLimit();
  }
}

/** Stops reading an answer when the signal aborts: a destroyed request only discards what still arrives of it. */
async function whileReading<T>(response: IncomingMessage, { signal }: CallLimit, read: () => Promise<T>): Promise<T> {
  const abort = () => response.destroy();
  signal.addEventListener('abort', abort);
  try {
    if (signal.aborted) abort();
    const body = await read();
    // What was destroyed ends like an answer whose connection was closed: what has arrived may be half of it.
    signal.throwIfAborted();
    return body;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
