import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { type HttpAnswer, sentenceAnswer, timeLimit } from './answer.ts';
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

/** More than kube-apiserver sends: two Shoots, of which etcd takes 1.5 MiB each. */
export const MAX_BYTES = 6 * 1024 * 1024;

/** Almost all bodies are smaller, and need no room. */
const FREE_BYTES = 64 * 1024;

/**
 * Room for all larger bodies that are being received or answered. Any caller that reaches the port can send them, to the
 * process and not to the thread: 512 of them would take 3 GB.
 */
const ROOM_BYTES = 48 * 1024 * 1024;

export const tooLong = sentenceAnswer(413, `The body is longer than ${MAX_BYTES} bytes.`);

const noRoom = sentenceAnswer(503, 'There are too many large requests at once; send it again.');

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
  if (webhook === undefined) return notFound(served, tokens);
  if (request.method !== 'POST') return sentenceAnswer(405, 'Send an AdmissionReview with POST.');
  const refusal = refusalOf(request);
  if (refusal !== undefined) return refusal;
  const signal = timeLimit();
  return withBody(request, room, (body) =>
    // An API server shows the sentence, or allows the request, as the failure policy says.
    webhook.answer(body, signal).catch((error) => sentenceAnswer(503, describeError(error))),
  );
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
function notFound(served: ServedWebhook[], tokens: PathTokens | undefined): HttpAnswer {
  const paths = served.map(({ definition }) => definition.webhook.path).join(' or ');
  return sentenceAnswer(404, tokens === undefined ? `There is no such path; use ${paths}.` : 'Not found.');
}

function refusalOf({ headers }: IncomingMessage): HttpAnswer | undefined {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== '' && type.trim() !== 'application/json') {
    return sentenceAnswer(415, 'Send the AdmissionReview as application/json.');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return sentenceAnswer(415, 'Send the AdmissionReview without compression.');
  }
  return Number(headers['content-length'] ?? 0) > 2 * MAX_BYTES ? tooLong : undefined;
}

/** Reads a body and gives it to `use`; it occupies room until that is done. */
async function withBody(
  request: IncomingMessage,
  room: Room,
  use: (body: Buffer) => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  // One that arrives in parts, without a length, may be as long as any.
  const bytes = Number(request.headers['content-length'] ?? MAX_BYTES);
  if (bytes > MAX_BYTES) {
    // Read to its end, or the client would not receive the answer.
    await finished(request.resume());
    return tooLong;
  }
  // Takes memory only for what arrives. In chunks of one byte, a body would take a hundred times its length.
  const buffer = Buffer.allocUnsafe(bytes);
  let end = 0;
  let taken = 0;
  try {
    // By default the iterator destroys the connection when it is left early, and the client gets no answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (end + chunk.length > bytes) return tooLong;
      const needed = Math.max(0, end + chunk.length - FREE_BYTES) - taken;
      if (needed > room.free) return noRoom;
      room.free -= needed;
      taken += needed;
      end += chunk.copy(buffer, end);
    }
    return await use(buffer.subarray(0, end));
  } finally {
    room.free += taken;
  }
}

/** Returns whether so much of the body was not read that closing the connection is better than reading it now. */
function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers['content-length']) <= FREE_BYTES);
}
