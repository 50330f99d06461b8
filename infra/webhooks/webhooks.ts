import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { closeServer, listen } from '../listen.ts';
import { repeat } from '../repeat.ts';
import { TIMEOUT_SECONDS } from './answer.ts';
import { type CertificateSource, type KeyPair, validityOf } from './certificates.ts';
import { createResponder, type ResponderOptions } from './respond.ts';

/** A configuration that is applied again may lose its authority, and Shoots are rejected until it is restored. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

export interface WebhooksOptions extends ResponderOptions {
  port: number;
  certificates: CertificateSource;
  log: Log;
  now(): Date;
}

export interface Webhooks {
  port: number;
  status(): WebhooksStatus;
  stop(): Promise<void>;
}

export interface WebhooksStatus {
  /** Whether there is a valid certificate; API servers accept no other. */
  ready: boolean;
  until?: Date;
  /** One sentence for each problem, also while calls are answered. */
  problems: string[];
}

/** Listens immediately; the first certificate may follow later. */
export async function startWebhooks({ certificates, log, now, ...options }: WebhooksOptions): Promise<Webhooks> {
  const server = await startWebhookServer(options);
  let served: string | undefined;
  let found: string[] = [];
  const status = () => statusOf(served, found, now());
  const renew = async (signal: AbortSignal): Promise<string[]> => {
    try {
      const { certificate, problems } = await certificates.current(signal);
      server.use(certificate);
      served = certificate.cert;
      return await problems;
    } catch (error) {
      // The current certificate stays in use.
      return [describeError(error)];
    }
  };
  const renewing = repeat(
    (problem) => (problem === undefined ? EVERY_MS : AFTER_PROBLEM_MS),
    async (signal) => {
      found = await renew(signal);
      return status().problems.join(' ') || undefined;
    },
    (error) => error !== undefined && log.warn('webhook certificate problem', { error }),
  );
  return {
    port: server.port,
    status,
    async stop() {
      await Promise.all([renewing.stop(), server.stop()]);
    },
  };
}

function statusOf(served: string | undefined, found: string[], now: Date): WebhooksStatus {
  if (served === undefined) return { ready: false, problems: found.length > 0 ? found : ['no certificate yet'] };
  const { isValid, until, problem } = validityOf(served, now);
  const sentences = problem === undefined ? [] : [`the serving certificate ${problem}; ${remedy(isValid)}.`];
  return { ready: isValid, until, problems: [...sentences, ...found] };
}

const remedy = (isValid: boolean) =>
  isValid
    ? 'check why its renewal is overdue'
    : 'check its renewal and the clock of this machine, because no API server accepts it';

export interface WebhookServer {
  port: number;
  /** Uses this certificate for new connections; open ones keep theirs, so no call is dropped. */
  use(certificate: KeyPair): void;
  /** Finishes the answers in progress. */
  stop(): Promise<void>;
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

type ServerOptions = { port: number } & ResponderOptions;

/** Serves every webhook at its path over HTTPS. Until `use` is called every handshake fails. */
export async function startWebhookServer(options: ServerOptions): Promise<WebhookServer> {
  const tls = { keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS };
  let used: string | undefined;
  const create = (answer: RequestListener) => createServer({ ...limits, ...tls }, answer);
  const { server, ...running } = await start(create, options);
  return {
    ...running,
    use(certificate) {
      if (certificate.cert === used) return;
      server.setSecureContext(certificate);
      used = certificate.cert;
    },
  };
}

/** Serves every webhook at its path over HTTP, behind a proxy that terminates TLS, and `/healthz`. */
export async function startPlainServer(options: ServerOptions): Promise<Pick<WebhookServer, 'port' | 'stop'>> {
  return start(
    (answer) =>
      createPlainServer(limits, (request, response) => {
        if (request.method === 'GET' && request.url === '/healthz') response.end('ok\n');
        else answer(request, response);
      }),
    options,
  );
}

async function start<S extends Server>(create: (answer: RequestListener) => S, { port, ...options }: ServerOptions) {
  const respond = createResponder(options);
  let isStopping = false;
  const server = create((request, response) => void respond(request, response, () => isStopping));
  server.maxConnections = MOST_CONNECTIONS;
  // A client that does not read its answer.
  server.timeout = 2 * TIMEOUT_SECONDS * 1000;
  return {
    server,
    port: await listen(server, port),
    stop() {
      isStopping = true;
      // No API server waits any longer.
      return closeServer(server, TIMEOUT_SECONDS * 1000);
    },
  };
}
