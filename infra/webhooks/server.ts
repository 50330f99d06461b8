import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { ShootFluxError } from '../../shared/runtime/errors.ts';
import type { WebhookFunction } from '../functions.ts';
import { answer, type HttpAnswer, type Surroundings } from './answer.ts';
import type { KeyPair } from './certificates.ts';

/** A function with what it works with. */
export type Served = WebhookFunction & { surroundings: Surroundings };

export interface WebhookServer {
  port: number;
  /** Serves new connections with this certificate; those that are open keep theirs, so no call is dropped. */
  use(certificate: KeyPair): void;
  /** Lets answers end that are under way. */
  stop(): Promise<void>;
}

/** Above what kube-apiserver sends: two Shoots, each at most 1.5 MB in etcd. */
const MAX_BYTES = 8 * 1024 * 1024;

/** An API server drops an idle connection after 90 s; whoever does it first makes the other write into a closed one. */
const KEEP_ALIVE_MS = 120_000;

/** A connection that says nothing must not keep the process from ending. */
const HANDSHAKE_MS = 10_000;

/** Serves every function at its path. Until a certificate is there every handshake fails. */
export async function startWebhookServer(options: { port: number; served: Served[] }): Promise<WebhookServer> {
  const idle = new Set<Socket>();
  let isStopping = false;
  let used: string | undefined;
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS },
    (request, response) => {
      const { socket } = request;
      idle.delete(socket);
      response.once('close', () => {
        if (!socket.destroyed) idle.add(socket);
      });
      void respond(request, options.served)
        .then(({ status, contentType, body }) => {
          const connection = isStopping ? { connection: 'close' } : {};
          response.writeHead(status, { 'content-type': contentType, ...connection }).end(body);
        })
        .catch(() => response.destroy());
    },
  );
  server.on('secureConnection', (socket) => {
    // Its handshake was under way when we stopped.
    if (isStopping) socket.destroy();
    else idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', ({ message }) => {
    listening.reject(new ShootFluxError(`port ${options.port} cannot be served (${message}): take another one.`));
  });
  server.listen(options.port, listening.resolve);
  await listening.promise;
  return {
    port: (server.address() as AddressInfo).port,
    use(certificate) {
      if (certificate.cert === used) return;
      server.setSecureContext(certificate);
      used = certificate.cert;
    },
    async stop() {
      isStopping = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // Node closes only those that have asked before; one that has never asked would keep it for ever.
      for (const socket of idle) socket.destroy();
      await closed;
    },
  };
}

async function respond(request: IncomingMessage, served: Served[]): Promise<HttpAnswer> {
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
