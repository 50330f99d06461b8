import type { IncomingMessage } from 'node:http';
import { resumed } from '../runtime/activity.ts';
import { callText, statusError, unreachable } from './call-errors.ts';
import { AnswerTooLargeError, UnreachableError } from './errors.ts';
import { limitsOf, type Request, serverName, type Transport } from './transport.ts';

const MIB = 1024 * 1024;

/** Returns the answer's JSON. @throws the typed error of a failed call, AnswerTooLargeError */
export async function answer<T>(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<T> {
  const status = response.statusCode ?? 0;
  const isGood = status >= 200 && status < 300;
  const { object, error: ofFailure } = limitsOf(transport);
  const failure = (body?: unknown) => statusError(request, status, body, response.headers);
  let body: unknown;
  try {
    const bytes = bounded(transport, request, response, isGood ? (request.maxBytes ?? object) : ofFailure);
    body = await ((isGood && request.read) || readJson)(bytes);
    // What was destroyed ends like an answer whose connection was closed: what has arrived may be half of it.
    signal.throwIfAborted();
  } catch (error) {
    // The parser's own message quotes the text, which may be a Secret.
    const isNoJson = error instanceof SyntaxError;
    if (signal.aborted || !(isNoJson || error instanceof AnswerTooLargeError))
      throw unreachable(transport, request, isNoJson ? undefined : error, signal);
    if (!isGood) throw failure();
    throw isNoJson ? invalidAnswer(request, 'the answer is not JSON') : error;
  }
  if (!isGood) throw failure(body);
  return body as T;
}

/** Returns the error for an answer that no API server gives. */
export function invalidAnswer(request: Request, problem: string): UnreachableError {
  return new UnreachableError(`${callText(request)}: ${problem}`, 0, 'InvalidAnswer');
}

/** Returns the error for an answer with too many bytes. */
export function tooManyBytes(request: Request, transport: Transport, max: number): AnswerTooLargeError {
  return new AnswerTooLargeError(
    `${callText(request)}: the answer of ${serverName(transport)} is larger than ${max / MIB} MiB, so it is not read; ` +
      'make the objects smaller, or remove some',
  );
}

/** Collects up to so many bytes that arrive in pieces. */
export function pieces(most: number, tooLarge: () => Error) {
  let all: Buffer[] = [];
  let bytes = 0;
  return {
    /** @throws the error for too many bytes */
    add(piece: Buffer): void {
      bytes += piece.length;
      if (bytes > most) throw tooLarge();
      all.push(piece);
    },
    /** Returns what was added, joined, and forgets it. */
    take(): Buffer {
      const joined = Buffer.concat(all);
      all = [];
      bytes = 0;
      return joined;
    },
  };
}

async function readJson(body: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Yields the chunks of an answer up to a limit. */
async function* bounded(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  max: number,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > max) throw tooManyBytes(request, transport, max);
    resumed();
    yield chunk;
  }
  // What is done with the whole answer belongs to this run, too.
  resumed();
}
