import { existsSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { getCACertificates } from 'node:tls';
import * as z from 'zod/mini';
import { errorMessage, RetryableError, ShootFluxError } from '../../shared/errors.ts';
import { tokenFile } from '../../shared/kube/connection.ts';
import { parsedJson } from '../../shared/shapes.ts';
import { sendEach, type Transport } from '../transport.ts';
import { type Attributes, type CloudEvent, delayedEventOf, type Encoded, encodeEvent, eventOf } from './event.ts';

/** Where events are sent, and how. */
export interface SinkOptions {
  /** A broker, or anything else that takes CloudEvents over HTTP. */
  url: string;
  /** Attributes that every event gets besides its own. */
  extensions?: Attributes | undefined;
  /** Certificates of authorities (PEM) besides those of the system. */
  ca?: string | undefined;
  /** File with a token for the sink, which is sent along if the file exists. Default: where a SinkBinding puts it. */
  tokenPath?: string | undefined;
  /**
   * How long an answer may take, with the wait for a connection. Default 10,000: a broker without `async-handler` answers
   * after the run.
   */
  timeoutMs?: number | undefined;
}

const TOKEN_PATH = '/oidc/token';

/**
 * Opens a sink, which sends changes as CloudEvents; what is due later goes to the bridge, which sends it on then. Nothing is
 * sent yet.
 * @throws ShootFluxError for an address that cannot be used
 */
export function openSink(options: SinkOptions): { sender: Transport; close(): void } {
  const { extensions = {} } = options;
  const { post, close } = createPost(sinkUrl(options.url), options);
  const send = ({ attributes, data }: CloudEvent) =>
    post(encodeEvent({ attributes: { ...attributes, ...extensions }, data }));

  return {
    sender: {
      send: (changes) => sendEach('The sink', changes, (change) => send(eventOf(change, new Date()))),
      async retryLater(change) {
        await send(delayedEventOf(change, new Date()));
      },
    },
    close,
  };
}

/**
 * Returns the sink of this address with what a SinkBinding adds to it in the environment of a process.
 * @throws ShootFluxError that names the wrong variable
 */
export function sinkAt(
  url: string,
  variables: Readonly<Record<string, string | undefined>>,
): Pick<SinkOptions, 'url' | 'extensions' | 'ca'> {
  const { K_CE_OVERRIDES: overrides, K_CA_CERTS: ca } = variables;
  if (ca && !ca.includes('-----BEGIN CERTIFICATE-----')) {
    throw new ShootFluxError('K_CA_CERTS has no certificate in PEM; correct the SinkBinding.');
  }
  return { url, extensions: overridesOf(overrides), ca: ca || undefined };
}

/** Returns what posts requests to one address over connections that stay open, and resolves when one was accepted. */
function createPost(url: URL, { ca, tokenPath = TOKEN_PATH, timeoutMs = 10_000 }: SinkOptions) {
  const isSecure = url.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: 32 };
  const agent = isSecure
    ? new HttpsAgent({ ...options, ...(ca && { ca: [...getCACertificates(), ca] }) })
    : new HttpAgent(options);
  const token = existsSync(tokenPath) ? tokenFile(tokenPath) : undefined;
  const request = isSecure ? requestHttps : requestHttp;

  const statusOf = async ({ headers, body }: Encoded, refresh: boolean): Promise<number> => {
    const authorization = typeof token === 'function' ? { authorization: `Bearer ${await token(refresh)}` } : {};
    const answered = Promise.withResolvers<IncomingMessage>();
    const sent = request(url, {
      ...{ method: 'POST', agent, signal: AbortSignal.timeout(timeoutMs) },
      headers: { ...headers, ...authorization, 'content-length': Buffer.byteLength(body) },
    });
    sent.once('response', answered.resolve).once('error', answered.reject).end(body);
    const answer = await answered.promise;
    answer.on('error', () => {}).resume();
    return answer.statusCode ?? 0;
  };

  return {
    /** @throws RetryableError */
    async post(encoded: Encoded): Promise<void> {
      const status = await statusOf(encoded, false).catch((error: unknown) => {
        throw new RetryableError(`the sink ${url.host} does not answer (${errorMessage(error)})`, { cause: error });
      });
      const final = status === 401 && token !== undefined ? await statusOf(encoded, true) : status;
      if (final < 200 || final > 299) throw new RetryableError(`the sink ${url.host} answered ${final}`);
    },
    close: () => agent.destroy(),
  };
}

function sinkUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new ShootFluxError('The sink is not an address such as http://broker-ingress.example/ns/broker; correct it.');
}

const NAME = /^[a-z0-9]{1,20}$/;
const RESERVED = ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'dataschema', 'data'];

const schema = z.object({
  extensions: z.optional(z.record(z.string(), z.string().check(z.maxLength(1000)))),
});

/**
 * Returns the extension attributes that a SinkBinding adds to every event, from the value of `K_CE_OVERRIDES`.
 * @throws ShootFluxError
 */
function overridesOf(text: string | undefined): Attributes {
  if (!text) return {};
  const given = parsedJson(text);
  if (given === undefined) throw wrong('it is not JSON');
  const { data, error } = z.safeParse(schema, given);
  if (error !== undefined) throw wrong('it is not of the form {"extensions": {"name": "value"}}');
  const extensions = data.extensions ?? {};
  const bad = Object.keys(extensions).find((name) => !NAME.test(name) || RESERVED.includes(name));
  if (bad !== undefined) {
    throw wrong(`"${bad.slice(0, 40)}" is no name of an extension: at most 20 lower-case letters and digits`);
  }
  return extensions;
}

function wrong(problem: string): ShootFluxError {
  return new ShootFluxError(`K_CE_OVERRIDES cannot be used: ${problem}; correct ceOverrides of the SinkBinding.`);
}
