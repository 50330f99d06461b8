import { createServer } from 'node:https';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import { boundCallers } from '../callers.ts';
import { listen } from '../listen.ts';
import type { CertificateSource } from './certificate-source.ts';
import type { KeyPair } from './certificates.ts';
import { close } from './close.ts';
import { boundConnections, serverLimits } from './connections.ts';
import { createResponder, type ResponderOptions } from './respond.ts';
import { validityOf } from './validity.ts';

/** A configuration that is applied again may lose its authority, and Shoots are rejected until it is restored. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

export interface WebhooksOptions extends ResponderOptions {
  port: number;
  certificates: CertificateSource;
  log: Log;
  now(): Date;
}

/** The webhooks of this process, whose certificate is kept up to date. */
export interface Webhooks {
  port: number;
  status(): WebhooksStatus;
  stop(): Promise<void>;
}

/** The state of the webhooks. */
export interface WebhooksStatus {
  /** Whether there is a valid certificate; API servers accept no other. */
  ready: boolean;
  /** When the certificate expires. */
  until?: Date;
  /** One sentence for each problem, also while calls are answered. */
  problems: string[];
}

/** Listens immediately; the first certificate may follow later. */
export async function startWebhooks({ certificates, log, now, ...options }: WebhooksOptions): Promise<Webhooks> {
  const server = await startWebhookServer(options);
  const ending = new AbortController();
  let served: string | undefined;
  let found: string[] = [];
  const status = () => statusOf(served, found, now());
  const renew = async (): Promise<string[]> => {
    try {
      const { certificate, problems } = await certificates.current(ending.signal);
      server.use(certificate);
      served = certificate.cert;
      return await problems;
    } catch (error) {
      // The current certificate stays in use.
      return [describeError(error)];
    }
  };
  const keepRenewing = async () => {
    let logged = '';
    while (!ending.signal.aborted) {
      found = await renew();
      const error = status().problems.join(' ');
      if (error !== logged && error !== '' && !ending.signal.aborted)
        log.warn('webhook certificate problem', { error });
      logged = error;
      await sleep(error === '' ? EVERY_MS : AFTER_PROBLEM_MS, ending.signal);
    }
  };
  const renewing = keepRenewing();
  return {
    port: server.port,
    status,
    async stop() {
      ending.abort();
      await Promise.all([renewing, server.stop()]);
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

/** Serves every webhook at its path over HTTPS. Until `use` is called every handshake fails. */
export async function startWebhookServer(options: { port: number } & ResponderOptions): Promise<WebhookServer> {
  const respond = createResponder(options);
  let isStopping = false;
  let used: string | undefined;
  const server = createServer(
    { ...serverLimits, keepAliveTimeout: KEEP_ALIVE_MS, handshakeTimeout: HANDSHAKE_MS },
    (request, response) => {
      connections.begin(request, response);
      void respond(request, response, () => isStopping);
    },
  );
  const connections = boundConnections(server, () => isStopping);
  boundCallers(server);
  const port = await listen(server, options.port);
  return {
    port,
    use(certificate) {
      if (certificate.cert === used) return;
      server.setSecureContext(certificate);
      used = certificate.cert;
    },
    async stop() {
      isStopping = true;
      const closed = close(server);
      // Node closes only connections that have sent a request; others would keep the server open indefinitely.
      connections.closeIdle();
      await closed;
    },
  };
}
