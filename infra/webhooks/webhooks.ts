import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import type { CertificateSource } from './certificate-source.ts';
import type { ResponderOptions } from './respond.ts';
import { startWebhookServer } from './server.ts';
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
