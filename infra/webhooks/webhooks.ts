import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { repeat } from '../repeat.ts';
import { type CertificateSource, validityOf } from './certificates.ts';
import { type ServerOptions, startWebhookServer } from './server.ts';

/** A configuration that is applied again may lose its authority, and Shoots are rejected until it is restored. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

interface WebhooksOptions extends ServerOptions {
  certificates: CertificateSource;
  log: Log;
  now(): Date;
}

export type Webhooks = Awaited<ReturnType<typeof startWebhooks>>;

export interface WebhooksStatus {
  /** Whether there is a valid certificate; API servers accept no other. */
  ready: boolean;
  until?: Date;
  /** One sentence for each problem, also while calls are answered. */
  problems: string[];
}

/** Listens immediately; the first certificate may follow later. */
export async function startWebhooks({ certificates, log, now, ...options }: WebhooksOptions) {
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
    async stop(): Promise<void> {
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
