import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookFunction } from '../functions.ts';
import { type AnswerDependencies, answer, type HttpAnswer } from './answer.ts';

/** A webhook function with its dependencies. */
export type ServedWebhook = WebhookFunction & { dependencies: AnswerDependencies };

/** More than kube-apiserver sends: two Shoots, each at most 1.5 MB in etcd. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Answers one HTTP request with the function at its path.
 * @param isStopping whether the server is stopping; the connection is then closed after the answer
 */
export async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  served: ServedWebhook[],
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

async function answerOf(request: IncomingMessage, served: ServedWebhook[]): Promise<HttpAnswer> {
  const path = request.url?.split('?')[0];
  const called = served.find(({ definition }) => definition.webhook.path === path);
  if (called === undefined) {
    return rejection(
      404,
      `There is no such path; use ${served.map(({ definition }) => definition.webhook.path).join(' or ')}.`,
    );
  }
  if (request.method !== 'POST') return rejection(405, 'Send an AdmissionReview with POST.');
  const body = await read(request);
  if (body === undefined) return rejection(413, `The body is longer than ${MAX_BYTES} bytes.`);
  return answer(called, body, called.dependencies);
}

function rejection(status: number, sentence: string): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

/** Reads the body; undefined when it is too long. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    // The rest of a body that is too long is read and dropped, or the client would not receive the answer.
    if (bytes <= MAX_BYTES) chunks.push(chunk);
  }
  return bytes <= MAX_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}
