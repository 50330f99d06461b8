import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { type HttpAnswer, timeLimit } from './answer.ts';
import { isAllowed, type PathTokens } from './path-token.ts';

/** Answers the body of a review. @param signal aborts when the answer is due */
export type Answerer = (body: Buffer, signal: AbortSignal) => Promise<HttpAnswer>;

/** A webhook function, and what answers for it. */
export interface ServedWebhook {
  definition: WebhookDefinition;
  answer: Answerer;
}

export interface ResponderOptions {
  served: ServedWebhook[];
  /** Present: a path is served only with one of these tokens at its end. */
  tokens?: PathTokens | undefined;
}

/**
 * Answers one HTTP request with the function at its path.
 * @param isStopping whether the server is stopping; the connection is then closed after the answer
 */
export type Responder = (
  request: IncomingMessage,
  response: ServerResponse,
  isStopping: () => boolean,
) => Promise<void>;

/** Why a request is not answered with an AdmissionReview. */
interface Rejection {
  status: number;
  sentence: string;
}

/** More than kube-apiserver sends: two Shoots, of which etcd takes 1.5 MiB each. */
export const MAX_BYTES = 6 * 1024 * 1024;

/** Almost all bodies are smaller, and need no room. */
const FREE_BYTES = 64 * 1024;

/**
 * Room for all larger bodies that are being received or answered. Any caller that reaches the port can send them, to the
 * process and not to the thread: 512 of them would take 3 GB.
 */
const ROOM_BYTES = 48 * 1024 * 1024;

export const tooLong: Rejection = { status: 413, sentence: `The body is longer than ${MAX_BYTES} bytes.` };

const noRoom: Rejection = { status: 503, sentence: 'There are too many large requests at once; send it again.' };

/** How many bytes of the room are free. */
interface Room {
  free: number;
}

/** Returns the function that answers the requests of one server. */
export function createResponder(options: ResponderOptions): Responder {
  const room: Room = { free: ROOM_BYTES };
  return async (request, response, isStopping) => {
    try {
      const { status, contentType, body } = await answerOf(request, options, room);
      const isOver = isStopping() || leavesMuch(request);
      response.writeHead(status, { 'content-type': contentType, ...(isOver && { connection: 'close' }) }).end(body);
    } catch {
      response.destroy();
    }
  };
}

async function answerOf(
  request: IncomingMessage,
  { served, tokens }: ResponderOptions,
  room: Room,
): Promise<HttpAnswer> {
  const webhook = webhookAt(request.url ?? '', served, tokens);
  if (webhook === undefined) return rejectionOf(notFound(served, tokens));
  if (request.method !== 'POST') return rejectionOf({ status: 405, sentence: 'Send an AdmissionReview with POST.' });
  const problem = headersProblem(request);
  if (problem !== undefined) return rejectionOf(problem);
  const signal = timeLimit();
  const given = await withBody(request, room, async (body) => {
    try {
      return await webhook.answer(body, signal);
    } catch (error) {
      // An API server shows the sentence, or allows the request, as the failure policy says.
      return rejectionOf({ status: 503, sentence: describeError(error) });
    }
  });
  return 'sentence' in given ? rejectionOf(given) : given;
}

function webhookAt(url: string, served: ServedWebhook[], tokens: PathTokens | undefined): ServedWebhook | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (tokens === undefined) return served.find(({ definition }) => definition.webhook.path === path);
  const end = path.lastIndexOf('/');
  // The token is checked for every path, so that the time of the answer does not depend on the path.
  const isKnown = isAllowed(tokens, path.slice(end + 1));
  const webhook = served.find(({ definition }) => definition.webhook.path === path.slice(0, end));
  return isKnown ? webhook : undefined;
}

/** Says nothing to a caller who needs a token. */
function notFound(served: ServedWebhook[], tokens: PathTokens | undefined): Rejection {
  const paths = served.map(({ definition }) => definition.webhook.path).join(' or ');
  return { status: 404, sentence: tokens === undefined ? `There is no such path; use ${paths}.` : 'Not found.' };
}

/** Returns why the headers already rule a request out; undefined when its body should be read. */
function headersProblem({ headers }: IncomingMessage): Rejection | undefined {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== '' && type.trim() !== 'application/json') {
    return { status: 415, sentence: 'Send the AdmissionReview as application/json.' };
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return { status: 415, sentence: 'Send the AdmissionReview without compression.' };
  }
  return Number(headers['content-length'] ?? 0) > 2 * MAX_BYTES ? tooLong : undefined;
}

/**
 * Reads a body and gives it to `use`; it occupies room until that is done. What is a little too long is read to its end,
 * or the client would not receive the answer.
 */
async function withBody<T>(
  request: IncomingMessage,
  room: Room,
  use: (body: Buffer) => Promise<T>,
): Promise<T | Rejection> {
  // One buffer that grows: in chunks of one byte, a body would take a hundred times its length.
  let buffer = Buffer.alloc(0);
  let bytes = 0;
  let taken = 0;
  try {
    // By default the iterator destroys the connection when it is left early, and the client gets no answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const from = bytes;
      bytes += chunk.length;
      if (bytes > 2 * MAX_BYTES) return tooLong;
      if (bytes > MAX_BYTES) continue;
      if (bytes > buffer.length) {
        const size = Math.min(MAX_BYTES, Math.max(2 * buffer.length, bytes));
        const needed = Math.max(0, size - FREE_BYTES) - taken;
        if (needed > room.free) return noRoom;
        room.free -= needed;
        taken += needed;
        const larger = Buffer.allocUnsafe(size);
        buffer.copy(larger, 0, 0, from);
        buffer = larger;
      }
      chunk.copy(buffer, from);
    }
    return bytes > MAX_BYTES ? tooLong : await use(buffer.subarray(0, bytes));
  } finally {
    room.free += taken;
  }
}

/** Returns whether so much of the body was not read that closing the connection is better than reading it now. */
function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers['content-length']) <= FREE_BYTES);
}

function rejectionOf({ status, sentence }: Rejection): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}
