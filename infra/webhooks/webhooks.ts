import type { KubeClient } from '../../shared/kube/client.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { findPushWebhook, findWebhookDefinitions, findWebhooks } from '../functions.ts';
import { repeat } from '../repeat.ts';
import { type Answerer, answererOf } from './answer.ts';
import { type CertificateFiles, certificateFromFiles } from './certificate-files.ts';
import { type CertificateSource, validityOf } from './certificates.ts';
import { type CertificateSecret, managedCertificates } from './managed-certificates.ts';
import { publish } from './publish.ts';
import { type PushAnswerer, pushAnswerer } from './push.ts';
import { type ServedWebhook, type ServerOptions, startWebhookServer } from './server.ts';

export interface WebhookOptions extends Omit<ServerOptions, 'served' | 'push'> {
  /** Names or addresses under which API servers call; the certificate is issued for them. */
  hosts: string[];
  /** Files of a certificate that is issued elsewhere. Absent: shoot-flux issues its own. */
  certificate?: CertificateFiles | undefined;
  /** Where the certificates that shoot-flux issues are stored. Absent: in the garden. */
  secret?: CertificateSecret | undefined;
  configuration?: string | undefined;
  /** Names of the functions to serve. Absent: all. */
  functions?: string[] | undefined;
  /** True: Git hosts may report pushes. */
  takesPushes?: boolean | undefined;
}

export interface WebhookDependencies {
  clientsOf(identity: string): (cluster: string, signal?: AbortSignal) => Promise<KubeClient>;
  settings: Pick<Settings, 'seeds' | 'defaults' | 'policy' | 'addons'>;
  log: Log;
  metrics: Metrics;
  /** Answers the reviews of a webhook function elsewhere. Absent: in this thread. */
  answererOf?: ((name: string) => Answerer) | undefined;
}

/** Serves every webhook function, each with its own identity. The identity `webhooks` manages their certificates. */
export async function serveWebhooks(options: WebhookOptions, dependencies: WebhookDependencies): Promise<Webhooks> {
  const { clientsOf, settings, log, metrics } = dependencies;
  const { port, hosts, certificate, secret, tokens } = options;
  const served = await servedWebhooks(options.functions, dependencies);
  for (const { definition } of served) {
    metrics.count('webhook_answers_total', { function: definition.name, result: 'failed' }, 0);
  }
  const now = () => new Date();
  const kube = clientsOf('webhooks');
  const targets = {
    webhooks: served.map(({ definition }) => definition.webhook),
    seeds: settings.seeds,
    configuration: options.configuration,
  };
  const certificates =
    certificate === undefined
      ? managedCertificates({ kube, hosts, secret, now })
      : certificateFromFiles(certificate, now);
  const publishTo: WebhooksOptions['publish'] = (authorities, signal) =>
    publish({ ...targets, kube: (cluster) => kube(cluster, signal) }, authorities);
  const push = options.takesPushes ? await servedPushes(dependencies) : undefined;
  return startWebhooks({ port, served, push, tokens, certificates, publish: publishTo, log, now });
}

/** Returns what answers Git hosts, with an identity of its own. */
export async function servedPushes({ clientsOf, log, metrics }: WebhookDependencies): Promise<PushAnswerer> {
  const webhook = await findPushWebhook();
  return pushAnswerer(webhook, { kube: clientsOf(webhook.definition.name), log, metrics });
}

/** Returns the webhooks to serve, each with its own identity. @param names of their functions; undefined: all */
export async function servedWebhooks(
  names: string[] | undefined,
  { clientsOf, answererOf: answererElsewhere, ...rest }: WebhookDependencies,
): Promise<ServedWebhook[]> {
  const isServed = ({ name }: { name: string }) => names?.includes(name) !== false;
  if (answererElsewhere !== undefined) {
    const definitions = (await findWebhookDefinitions()).filter(isServed);
    return definitions.map((definition) => ({ definition, answer: answererElsewhere(definition.name) }));
  }
  const functions = (await findWebhooks()).filter(({ definition }) => isServed(definition));
  return functions.map((webhook) => ({
    definition: webhook.definition,
    answer: answererOf(webhook, { ...rest, kube: clientsOf(webhook.definition.name) }),
  }));
}

/** A configuration that is applied again may lose its authority, and Shoots are rejected until it is restored. */
const EVERY_MS = 60_000;
const AFTER_PROBLEM_MS = 5_000;

interface WebhooksOptions extends ServerOptions {
  certificates: CertificateSource;
  /** Publishes authorities to the API servers. @returns one sentence for each problem */
  publish(authorities: string, signal: AbortSignal): Promise<string[]>;
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
export async function startWebhooks({ certificates, publish, log, now, ...options }: WebhooksOptions) {
  const server = await startWebhookServer(options);
  let served: string | undefined;
  let found: string[] = [];
  const status = () => statusOf(served, found, now());
  const renew = async (signal: AbortSignal): Promise<string[]> => {
    try {
      const { certificate, authorities } = await certificates.current(signal);
      // Used before the publication ends, so that a cluster that does not answer blocks no other. An authority of ours was
      // published before it took over, and the first one has no predecessor to keep.
      server.use(certificate);
      served = certificate.cert;
      return authorities === undefined ? [] : await publish(authorities, signal);
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
