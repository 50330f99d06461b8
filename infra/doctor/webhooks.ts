import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { errorMessage } from '../../shared/errors.ts';
import { ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { clusterName } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/shapes.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { patience } from '../fleet/target.ts';
import { findWebhookDefinitions } from '../functions.ts';
import { validityOf } from '../webhooks/certificates.ts';
import { configurations } from '../webhooks/publish.ts';
import { bad, capital, type Finding, good, type Patient, unknown } from './finding.ts';

const DAY = 86_400_000;

/** Short-lived certificates, as shoot-flux issues them, are renewed in time before a tenth of their life is left. */
const LONG_LIFE_MS = 60 * DAY;
const SOON_MS = 14 * DAY;

/** What the deployment says about its webhooks. */
export interface WebhookExpectation {
  /** Name of the webhook configurations. */
  configuration: string;
  /** Whether it is known that webhooks are served. */
  isServed: boolean;
  now(): Date;
}

/** Examines the webhook configuration of a cluster, the authorities in it, and whatever answers at its address. */
export async function webhooks(patient: Patient, expected: WebhookExpectation): Promise<Finding | Finding[]> {
  const definitions = (await findWebhookDefinitions()).filter(({ webhook }) => webhook.in === patient.place);
  const findings = definitions.map(async ({ name, webhook: { type } }) => {
    const found = await findConfiguration(patient, type, expected.configuration, `${name}.`);
    return found === undefined ? absent(patient, type, expected) : examineEntry(patient, found, expected.now());
  });
  return (await Promise.all(findings)).flat();
}

/** Charts give the configuration a name that changes with its content, so an operator's credentials look for its entry. */
async function findConfiguration({ kube }: Patient, type: Webhook['type'], name: string, prefix: string) {
  const named = await kube.find(configurations[type], { name });
  const listed = named ?? (await unless(kube.list(configurations[type], { limit: 500 }), ForbiddenError))?.items ?? [];
  const isOurs = (entry: object) => new RegExp(`^${prefix}.*shoot-flux`).test(textAt(entry, 'name') ?? '');
  for (const configuration of [listed].flat()) {
    const entry = entriesAt(configuration, 'webhooks').find((entry) => named !== undefined || isOurs(entry));
    if (entry !== undefined) return { what: `${type}WebhookConfiguration ${configuration.metadata.name}`, entry };
  }
  return undefined;
}

const effects = {
  garden: 'mistakes in a providerConfig are reported only once its Shoot is reconciled',
  seed: 'nothing adds the namespaces of Flux to the arguments of resource-managers',
};

function absent(patient: Patient, type: Webhook['type'], { configuration, isServed }: WebhookExpectation): Finding {
  const { name, place } = patient;
  const sentence = `${capital(clusterName(name))} has no ${type}WebhookConfiguration ${configuration}: ${effects[place]}`;
  const remedy = kubectl(['apply', '--server-side', '-f', `infra/gardener/webhooks-${place}.yaml`], patient);
  return place === 'seed' || isServed ? bad(sentence, remedy) : unknown(sentence, remedy);
}

/** Examines one entry of a configuration. */
async function examineEntry(
  patient: Patient,
  { what, entry }: { what: string; entry: object },
  now: Date,
): Promise<Finding[]> {
  const client = fieldsAt(entry, 'clientConfig') ?? {};
  const remedy = kubectl(['describe', what.replace(' ', '/').toLowerCase()], patient);
  const bundle = textAt(client, 'caBundle');
  // Without one, API servers trust the authorities of their system: right for a URL such as that of a Lambda.
  if (bundle === undefined && textAt(client, 'url') === undefined)
    return [bad(`${what} has no caBundle, so that the API server calls nothing: no process has published one`, remedy)];
  const authorities = bundle === undefined ? undefined : Buffer.from(bundle, 'base64').toString();
  const ofBundle = authorities === undefined ? [] : [authoritiesOf(what, authorities, now, remedy)];
  return [...ofBundle, await answers(what, client, authorities, now)];
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Judges the authority that is valid longest: others are there because they were, or will be. */
function authoritiesOf(what: string, bundle: string, now: Date, remedy: string): Finding {
  const all = (bundle.match(PEM) ?? []).flatMap((pem) => certificateOf(pem) ?? []);
  const [last] = all.sort((one, other) => Date.parse(other.validTo) - Date.parse(one.validTo));
  if (last === undefined) return bad(`The caBundle of ${what} holds no certificate`, remedy);
  return judged(`The authority in the caBundle of ${what}`, last, now, remedy);
}

function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function judged(what: string, certificate: X509Certificate, now: Date, remedy?: string): Finding {
  const { isValid, until, problem } = validityOf(certificate.toString(), now);
  if (!isValid) return bad(`${what} ${problem}`, remedy);
  const life = until.getTime() - Date.parse(certificate.validFrom);
  const isSoon = life > LONG_LIFE_MS && until.getTime() - now.getTime() < SOON_MS;
  const day = until.toISOString().slice(0, 10);
  if (problem === undefined && !isSoon) return good(`${what} is valid until ${day}`);
  return unknown(`${what} expires on ${day}; check why it is not renewed`, remedy);
}

/** Connects as an API server would, if the address can be reached from here. */
async function answers(what: string, client: object, ca: string | undefined, now: Date): Promise<Finding> {
  const { host, port } = addressOf(client);
  const address = `${host}:${port}`;
  const seen = await handshake(host, port, ca).catch((error: unknown) => errorMessage(error));
  if (typeof seen === 'string') return unknown(`${address} of ${what} cannot be reached from here: ${seen}`);
  const { certificate, problem } = seen;
  if (problem !== undefined)
    return bad(`${address} serves a certificate that the caBundle of ${what} does not accept: ${problem}`);
  return judged(`${address} of ${what} answers, and its certificate`, certificate, now);
}

function addressOf(client: object): { host: string; port: number } {
  const url = textAt(client, 'url');
  if (url !== undefined && URL.canParse(url)) {
    const { hostname, port } = new URL(url);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  }
  const { namespace, name, port } = fieldsAt(client, 'service') ?? {};
  return { host: `${name}.${namespace}.svc`, port: typeof port === 'number' ? port : 443 };
}

/** @throws Error where nothing answers */
function handshake(host: string, port: number, ca: string | undefined) {
  return new Promise<{ certificate: X509Certificate; problem: string | undefined }>((resolve, reject) => {
    // The certificate is judged below, so that another error is one of the network. Nothing is sent.
    const socket = connect({
      host,
      port,
      ca,
      ...(isIP(host) === 0 && { servername: host }),
      rejectUnauthorized: false,
    });
    const { connectTimeoutMs: ms } = patience;
    socket.setTimeout(ms, () => socket.destroy(new Error(`no answer within ${ms / 1000} s`)));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate();
      const problem = socket.authorized ? undefined : String(socket.authorizationError);
      if (certificate === undefined) reject(new Error('it has no certificate'));
      else resolve({ certificate, problem });
      socket.destroy();
    });
  });
}
