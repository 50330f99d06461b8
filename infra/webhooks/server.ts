import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer } from 'node:https';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { closeServer, listen } from '../listen.ts';
import {
  type Answerer,
  type HttpAnswer,
  MAX_BYTES,
  sentenceAnswer,
  TIMEOUT_SECONDS,
  timeLimit,
  tooLong,
} from './answer.ts';
import type { KeyPair } from './certificates.ts';
import { isAllowed, type PathTokens } from './path-token.ts';
import { MOST_PUSH_BYTES, PUSH_PATH, type PushAnswerer } from './push.ts';

/** A webhook function, and what answers for it. */
export interface ServedWebhook {
  definition: WebhookDefinition;
  answer: Answerer;
}

/** What a server of webhooks serves. */
export interface ServerOptions {
  port: number;
  served: ServedWebhook[];
  /** Present: a path is served only with one of these tokens at its end. */
  tokens?: PathTokens | undefined;
  /** Present: Git hosts may report pushes. They prove who they are in another way than by a token in the path. */
  push?: PushAnswerer | undefined;
}

/** Almost all bodies are smaller, and are never refused for want of room. */
const FREE_BYTES = 64 * 1024;

/**
 * Room for all bodies that are being received or answered. Any caller that reaches the port can send them, to the
 * process and not to the thread: 512 of them would take 3 GB.
 */
const ROOM_BYTES = 48 * 1024 * 1024;

const noRoom = sentenceAnswer(503, 'There are too many large requests at once; send it again.');

interface Room {
  free: number;
}

async function answerOf(
  request: IncomingMessage,
  { served, tokens, push }: ServerOptions,
  room: Room,
): Promise<HttpAnswer> {
  const { url = '', headers } = request;
  if (push !== undefined && url.startsWith(PUSH_PATH)) {
    const signal = timeLimit();
    return withBody(request, room, (body) => push(url, { headers, body }, signal), MOST_PUSH_BYTES);
  }
  const webhook = webhookAt(url, served, tokens);
  if (webhook === undefined) return notFound(served, tokens);
  if (request.method !== 'POST') return sentenceAnswer(405, 'Send an AdmissionReview with POST.');
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

/** Reads a body and gives it to `use`; it occupies room until that is done. */
async function withBody(
  request: IncomingMessage,
  room: Room,
  use: (body: Buffer) => Promise<HttpAnswer>,
  most = MAX_BYTES,
): Promise<HttpAnswer> {
  // One that arrives in parts, without a length, may be as long as any.
  const length = Number(request.headers['content-length'] ?? most);
  if (length > most) return tooLong(most);
  // Takes memory only for what arrives. In chunks of one byte, a body would take a hundred times its length.
  const buffer = Buffer.allocUnsafe(length);
  let end = 0;
  try {
    // By default the iterator destroys the connection when it is left early, and the client gets no answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (end + chunk.length > length) return tooLong(most);
      end += chunk.copy(buffer, end);
      room.free -= chunk.length;
      if (end > FREE_BYTES && room.free < 0) return noRoom;
    }
    return await use(buffer.subarray(0, end));
  } finally {
    room.free += end;
    // The unread rest would otherwise block the next request on this connection.
    request.resume();
  }
}

/** Longer than the 90 s after which an API server closes an idle connection, so that it never writes into a closed one. */
const KEEP_ALIVE_MS = 120_000;

/** A silent connection must not keep the process from stopping. */
const HANDSHAKE_MS = 5_000;

/**
 * A request has to arrive well before the API server stops waiting, its headers at once; Node checks both only every 30 s
 * unless it is asked to check more often.
 */
const limits = {
  requestTimeout: (TIMEOUT_SECONDS - 2) * 1000,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
};

/** An API server, or a proxy, opens one for each request at the same time. Each takes about 80 KB. */
const MOST_CONNECTIONS = 512;

/** Serves every webhook at its path over HTTPS. Until `use` is called every handshake fails. */
export async function startWebhookServer(options: ServerOptions) {
  const tls = { keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS };
  let used: string | undefined;
  const create = (answer: RequestListener) => createServer({ ...limits, ...tls }, answer);
  const { server, ...running } = await start(create, options);
  return {
    ...running,
    /** Uses this certificate for new connections; open ones keep theirs, so no call is dropped. */
    use(certificate: KeyPair): void {
      if (certificate.cert === used) return;
      server.setSecureContext(certificate);
      used = certificate.cert;
    },
  };
}

/** Serves every webhook at its path over HTTP, behind a proxy that terminates TLS, and `/healthz`. */
export async function startPlainServer(options: ServerOptions) {
  return start(
    (answer) =>
      createPlainServer(limits, (request, response) => {
        if (request.method === 'GET' && request.url === '/healthz') response.end('ok\n');
        else answer(request, response);
      }),
    options,
  );
}

async function start<S extends Server>(create: (answer: RequestListener) => S, options: ServerOptions) {
  const room: Room = { free: ROOM_BYTES };
  let isStopping = false;
  /** Answers one HTTP request with the function at its path. While the server is stopping, closes the connection. */
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { status, contentType, body } = await answerOf(request, options, room);
    // One that is announced to be huge is not worth reading to its end.
    const isHuge = Number(request.headers['content-length'] ?? 0) > 2 * MAX_BYTES;
    const ending = isStopping || isHuge ? { connection: 'close' } : {};
    response.writeHead(status, { 'content-type': contentType, ...ending }).end(body);
  };
  const server = create((request, response) => void respond(request, response).catch(() => response.destroy()));
  server.maxConnections = MOST_CONNECTIONS;
  // A client that does not read its answer.
  server.timeout = 2 * TIMEOUT_SECONDS * 1000;
  return {
    server,
    port: await listen(server, options.port),
    /** Finishes the answers in progress. */
    stop(): Promise<void> {
      isStopping = true;
      // No API server waits any longer.
      return closeServer(server, TIMEOUT_SECONDS * 1000);
    },
  };
}
