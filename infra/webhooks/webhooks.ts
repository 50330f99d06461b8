import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { sleep } from '../../shared/runtime/sleep.ts';
import type { CertificateSource } from './certificate-source.ts';
import type { Served } from './respond.ts';
import { startWebhookServer } from './server.ts';
import { validityOf } from './validity.ts';

/** A configuration that was applied anew may have lost its authority, and until it is back Shoots are refused. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

export interface WebhooksOptions {
  port: number;
  served: Served[];
  certificates: CertificateSource;
  log: Log;
  now(): Date;
}

/** The webhooks of this process, with a certificate that is renewed in time. */
export interface Webhooks {
  port: number;
  status(): WebhooksStatus;
  stop(): Promise<void>;
}

/** How the webhooks are. */
export interface WebhooksStatus {
  /** Whether there is a certificate that is valid now: nobody accepts another. */
  ready: boolean;
  /** When that ends. */
  until?: Date;
  /** One sentence for everything that is wrong, also where calls are answered. */
  problems: string[];
}

/** Listens at once; the first certificate may come later. */
export async function startWebhooks({ certificates, log, now, ...options }: WebhooksOptions): Promise<Webhooks> {
  const server = await startWebhookServer(options);
  const ending = new AbortController();
  let served: string | undefined;
  let found: string[] = [];
  const status = () => statusOf(served, found, now());
  const look = async (): Promise<string[]> => {
    try {
      const { certificate, problems } = await certificates.current(ending.signal);
      server.use(certificate);
      served = certificate.cert;
      return await problems;
    } catch (error) {
      // What is served goes on being served.
      return [describeError(error)];
    }
  };
  const keep = async () => {
    let told = '';
    while (!ending.signal.aborted) {
      found = await look();
      const error = status().problems.join(' ');
      if (error !== told && error !== '' && !ending.signal.aborted) log.warn('webhook certificate', { error });
      told = error;
      await sleep(error === '' ? EVERY_MS : AFTER_PROBLEM_MS, ending.signal);
    }
  };
  const keeping = keep();
  return {
    port: server.port,
    status,
    async stop() {
      ending.abort();
      await Promise.all([keeping, server.stop()]);
    },
  };
}

function statusOf(served: string | undefined, found: string[], now: Date): WebhooksStatus {
  if (served === undefined) return { ready: false, problems: found.length > 0 ? found : ['no certificate yet'] };
  const { isValid, until, problem } = validityOf(served, now);
  const sentences = problem === undefined ? [] : [`the serving certificate ${problem}: ${remedy(isValid)}.`];
  return { ready: isValid, until, problems: [...sentences, ...found] };
}

const remedy = (isValid: boolean) =>
  isValid
    ? 'it should have been renewed by now'
    : 'no API server accepts it; see who renews it, and whether the clock is right';
