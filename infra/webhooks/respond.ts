import type { IncomingMessage, ServerResponse } from 'node:http';
import { RetryableError } from '../../shared/errors.ts';
import type { WebhookFunction } from '../functions.ts';
import { type AnswerDependencies, answer, type HttpAnswer, timeLimit } from './answer.ts';
import { createGate, type Gate } from './gate.ts';
import { isAllowed, type PathTokens } from './path-token.ts';
import { createRoom, FREE_BYTES, headersProblem, type Rejection, type Room, withBody } from './read-body.ts';

/** A webhook function with its dependencies. */
export type ServedWebhook = WebhookFunction & { dependencies: AnswerDependencies };

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

/** A caller that no token stops must not keep API servers busy through us: every answer costs a few requests. */
const READS = { atOnce: 16, perSecond: 50, burst: 200, waiting: 200 };

/** After this time the answer is given without reading; the rest of the time limit would not suffice for it. */
const WAIT_MS = 3000;

/** Returns the function that answers the requests of one server. */
export function createResponder({ served, tokens }: ResponderOptions): Responder {
  const room = createRoom();
  const routes = served.map((webhook) => {
    const { garden, seed } = webhook.definition.rights;
    const readsClusters = garden.length + seed.length > 0;
    return { webhook, ...(readsClusters && { gate: createGate(READS) }) };
  });
  return async (request, response, isStopping) => {
    try {
      const { status, contentType, body } = await answerOf(request, routes, tokens, room);
      const isOver = isStopping() || leavesMuch(request);
      response.writeHead(status, { 'content-type': contentType, ...(isOver && { connection: 'close' }) }).end(body);
    } catch {
      response.destroy();
    }
  };
}

interface Route {
  webhook: ServedWebhook;
  /** Absent when the function reads nothing. */
  gate?: Gate;
}

async function answerOf(
  request: IncomingMessage,
  routes: Route[],
  tokens: PathTokens | undefined,
  room: Room,
): Promise<HttpAnswer> {
  const route = routeTo(request.url ?? '', routes, tokens);
  if (route === undefined) return rejectionOf(notFound(routes, tokens));
  if (request.method !== 'POST') return rejectionOf({ status: 405, sentence: 'Send an AdmissionReview with POST.' });
  const problem = headersProblem(request);
  if (problem !== undefined) return rejectionOf(problem);
  const signal = timeLimit();
  const given = await withBody(request, room, (body) => answerWith(route, body, signal));
  return 'sentence' in given ? rejectionOf(given) : given;
}

async function answerWith({ webhook, gate }: Route, body: Buffer, signal: AbortSignal): Promise<HttpAnswer> {
  const { dependencies } = webhook;
  if (gate === undefined) return answer(webhook, body, dependencies, signal);
  const leave = await gate.enter(WAIT_MS);
  if (leave === undefined) return answer(webhook, body, { ...dependencies, kube: tooMany }, signal);
  try {
    return await answer(webhook, body, dependencies, signal);
  } finally {
    leave();
  }
}

const tooMany: AnswerDependencies['kube'] = () =>
  Promise.reject(new RetryableError('Too many requests at once: the cluster was not asked.'));

function routeTo(url: string, routes: Route[], tokens: PathTokens | undefined): Route | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (tokens === undefined) return routes.find(({ webhook }) => webhook.definition.webhook.path === path);
  const end = path.lastIndexOf('/');
  // The token is checked for every path, so that the time of the answer does not depend on the path.
  const isKnown = isAllowed(tokens, path.slice(end + 1));
  const route = routes.find(({ webhook }) => webhook.definition.webhook.path === path.slice(0, end));
  return isKnown ? route : undefined;
}

/** Says nothing to a caller who needs a token. */
function notFound(routes: Route[], tokens: PathTokens | undefined): Rejection {
  const paths = routes.map(({ webhook }) => webhook.definition.webhook.path).join(' or ');
  return { status: 404, sentence: tokens === undefined ? `There is no such path; use ${paths}.` : 'Not found.' };
}

/** Returns whether so much of the body was not read that closing the connection is better than reading it now. */
function leavesMuch({ complete, headers }: IncomingMessage): boolean {
  return !complete && !(Number(headers['content-length']) <= FREE_BYTES);
}

function rejectionOf({ status, sentence }: Rejection): HttpAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}
