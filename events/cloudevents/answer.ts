import type { IncomingMessage, ServerResponse } from 'node:http';
import { TerminalError } from '../../shared/errors.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { cutText } from '../../shared/runtime/safe-text.ts';
import { type CloudEvent, decodeEvent } from './event.ts';

/** The answer to an event. 204 takes it; 400 and 422 give it up; with 503 the broker sends it again. */
export interface Answer {
  status: 204 | 400 | 422 | 503;
  /** Why it was not taken: names and numbers only. The broker keeps it with the dead letter. */
  sentence?: string;
  retryAfterSeconds?: number | undefined;
}

/** Takes an event. A TerminalError gives it up; after any other error the broker sends it again. */
export type Receive = (event: CloudEvent) => Promise<Answer>;

/**
 * Knative's dispatcher encodes the answer of a dead letter into a buffer of 1,024 bytes, and fails for more than 768, into
 * which the filter's wrapping of the answer in Base64 must fit.
 */
const LONGEST_ANSWER = 250;
const MOST_ANSWER_BYTES = 400;

/** A change has some kilobytes; the broker adds some attributes. */
const MOST_BYTES = 64 * 1024;

/** Answers a request that carries an event. Never throws. */
export function answering(receive: Receive, { log, metrics }: { log: Log; metrics: Metrics }) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, sentence, retryAfterSeconds } = await answerTo(request, receive, log);
    metrics.count('cloudevents_total', { status: String(status) });
    if (response.destroyed) return;
    if (retryAfterSeconds !== undefined) response.setHeader('retry-after', Math.ceil(retryAfterSeconds));
    if (sentence === undefined) response.writeHead(status).end();
    else response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${brief(sentence)}\n`);
  };
}

function brief(sentence: string): string {
  const cut = cutText(sentence, LONGEST_ANSWER);
  // A unit of a text has at most three bytes.
  return Buffer.byteLength(cut) <= MOST_ANSWER_BYTES ? cut : cutText(cut, Math.floor(MOST_ANSWER_BYTES / 3));
}

async function answerTo(request: IncomingMessage, receive: Receive, log: Log): Promise<Answer> {
  try {
    const event = await eventOfRequest(request);
    return 'status' in event ? event : await receive(event);
  } catch (error) {
    const sentence = describeError(error);
    if (!(error instanceof TerminalError)) return { status: 503, sentence };
    log.error('event rejected', { error: sentence });
    return { status: 422, sentence };
  }
}

async function eventOfRequest(request: IncomingMessage): Promise<CloudEvent | Answer> {
  const body = await bodyOf(request);
  if (body === undefined) return { status: 400, sentence: `The body is longer than ${MOST_BYTES} bytes.` };
  try {
    return decodeEvent(request.headers, body);
  } catch (error) {
    return { status: 400, sentence: describeError(error) };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // By default the iterator destroys the connection when it is left early, and the client gets no answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
