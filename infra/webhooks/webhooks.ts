import { sleep } from '../../events/watcher/abortable.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { CertificateSource } from './certificate-source.ts';
import type { Served } from './respond.ts';
import { startWebhookServer } from './server.ts';

/** A configuration that was applied anew may have lost its authority, and until it is back Shoots are refused. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

export interface WebhooksOptions {
  port: number;
  served: Served[];
  certificates: CertificateSource;
  log: Log;
}

/** The webhooks of this process, with a certificate that is renewed in time. */
export interface Webhooks {
  port: number;
  /** What is wrong with the certificate; undefined when it can be served with. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

/** Listens at once; the first certificate may come later. */
export async function startWebhooks({ certificates, log, ...options }: WebhooksOptions): Promise<Webhooks> {
  const server = await startWebhookServer(options);
  const ending = new AbortController();
  let problem: string | undefined = 'no certificate yet';
  let told = '';
  const renew = async () => {
    try {
      const { certificate, problems } = await certificates.current(ending.signal);
      server.use(certificate);
      problem = undefined;
      return problems;
    } catch (error) {
      // What is served goes on being served; only who has never had a certificate cannot answer.
      if (problem !== undefined) problem = describeError(error);
      return [describeError(error)];
    }
  };
  const keep = async () => {
    while (!ending.signal.aborted) {
      const problems = (await renew()).join(' ');
      if (problems !== told && problems !== '' && !ending.signal.aborted) log.warn('webhook certificate', { problems });
      told = problems;
      await sleep(problems === '' ? EVERY_MS : AFTER_PROBLEM_MS, ending.signal);
    }
  };
  const keeping = keep();
  return {
    port: server.port,
    problem: () => problem,
    async stop() {
      ending.abort();
      await Promise.all([keeping, server.stop()]);
    },
  };
}
