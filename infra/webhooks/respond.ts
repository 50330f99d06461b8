import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookFunction } from '../functions.ts';
import { answer, type HttpAnswer, type Surroundings } from './answer.ts';

/** A function with what it works with. */
export type Served = WebhookFunction & { surroundings: Surroundings };

/** Above what kube-apiserver sends: two Shoots, each at most 1.5 MB in etcd. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Answers one HTTP request with the function at its path.
 * @param isStopping the connection is not kept for another request
 */
export async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  served: Served[],
  isStopping: () => boolean,
): Promise<void> {
  try {
    const { status, contentType, body } = await answerOf(request, served);
    const connection = isStopping() ? { connection: 'close' } : {};
    response.writeHead(status, { 'content-type': contentType, ...connection }).end(body);
  } catch {
    response.destroy();
  }
}

async function answerOf(request: IncomingMessage, served: Served[]): Promise<HttpAnswer> {
  const path = request.url?.split('?')[0];
  const called = served.find(({ definition }) => definition.webhook.path === path);
  if (called === undefined) {
    return refusal(404, `Here are ${served.map(({ definition }) => definition.webhook.path).join(' and ')}.`);
  }
  if (request.method !== 'POST') return refusal(405, 'Post an AdmissionReview.');
  const body = await read(request);
  if (body === undefined) return refusal(413, `The body is longer than ${MAX_BYTES} bytes.`);
  return answer(called, body, called.surroundings);
}

function refusal(status: number, sentence: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

/** Undefined when it is too long. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // What is too long is read to its end and forgotten, or the answer would not get through.
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  return bytes <= MAX_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}
