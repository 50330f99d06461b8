import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { certificateOf } from '../../shared/config/secret-values.ts';
import { errorMessage } from '../../shared/errors.ts';
import { ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { clusterName } from '../../shared/runtime/key.ts';
import { withinMs } from '../../shared/runtime/sleep.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/shapes.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { capital } from '../fleet/print.ts';
import { patience } from '../fleet/target.ts';
import { findWebhookDefinitions } from '../functions.ts';
import { validityOf } from '../webhooks/certificates.ts';
import { configurations } from '../webhooks/publish.ts';
import { bad, type Deployment, type Finding, good, type Patient, unknown } from './finding.ts';

/** Examines the webhook configuration of a cluster, the authorities in it, and whatever answers at its address. */
export async function webhooks(patient: Patient, deployment: Deployment): Promise<Finding[]> {
  const definitions = (await findWebhookDefinitions()).filter(({ webhook }) => webhook.in === patient.place);
  const findings = definitions.map(async ({ name, webhook: { type } }) => {
    const found = await findConfiguration(patient, type, deployment.configuration, `${name}.`);
    return found === undefined ? absent(patient, type, deployment) : examineClient(patient, found, deployment.now);
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
    const client = fieldsAt(entry, 'clientConfig');
    if (client !== undefined) return { what: `${type}WebhookConfiguration ${configuration.metadata.name}`, client };
  }
  return undefined;
}

const effects = {
  garden: 'mistakes in a providerConfig are reported only once its Shoot is reconciled',
  seed: 'nothing adds the namespaces of Flux to the arguments of resource-managers',
};

function absent(patient: Patient, type: Webhook['type'], { configuration, certificates }: Deployment): Finding {
  const { name, place } = patient;
  const sentence = `${capital(clusterName(name))} has no ${type}WebhookConfiguration ${configuration}: ${effects[place]}`;
  const remedy = kubectl(['apply', '--server-side', '-f', `infra/gardener/webhooks-${place}.yaml`], patient);
  return place === 'seed' || certificates !== undefined ? bad(sentence, remedy) : unknown(sentence, remedy);
}

/** Examines how one entry of a configuration is called. */
async function examineClient(patient: Patient, { what, client }: { what: string; client: object }, now: Date) {
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

function judged(what: string, certificate: X509Certificate, now: Date, remedy?: string): Finding {
  const { isValid, until, problem } = validityOf(certificate.toString(), now);
  if (!isValid) return bad(`${what} ${problem}`, remedy);
  const day = until.toISOString().slice(0, 10);
  if (problem === undefined) return good(`${what} is valid until ${day}`);
  return unknown(`${what} expires on ${day}; check why it is not renewed`, remedy);
}

/** Connects as an API server would, if the address can be reached from here. */
async function answers(what: string, client: object, ca: string | undefined, now: Date): Promise<Finding> {
  const { namespace, name, port = 443 } = fieldsAt(client, 'service') ?? {};
  const url = new URL(textAt(client, 'url') ?? `https://${name}.${namespace}.svc:${port}`);
  const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443) };
  const place = `${address.host}:${address.port}`;
  const seen = await handshake(address, ca).catch(errorMessage);
  if (typeof seen === 'string') return unknown(`${place} of ${what} cannot be reached from here: ${seen}`);
  const { certificate, problem } = seen;
  if (problem !== undefined)
    return bad(`${place} serves a certificate that the caBundle of ${what} does not accept: ${problem}`);
  return judged(`${place} of ${what} answers, and its certificate`, certificate, now);
}

/** @throws Error where nothing answers */
async function handshake(address: { host: string; port: number }, ca: string | undefined) {
  const name = isIP(address.host) === 0 ? { servername: address.host } : {};
  // Whether it is authorized is judged afterwards, so that another error is one of the network. Nothing is sent.
  const socket = connect({ ...address, ...name, ca, rejectUnauthorized: false });
  try {
    await withinMs(patience.connectTimeoutMs, once(socket, 'secureConnect'));
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw new Error('it has no certificate');
    return { certificate, problem: socket.authorized ? undefined : String(socket.authorizationError) };
  } finally {
    socket.destroy();
  }
}
