import { type SpawnOptionsWithoutStdio, spawn } from 'node:child_process';
import type { RequestOptions } from 'node:https';
import { ShootFluxError } from '../errors.ts';
import { withinMs } from '../runtime/sleep.ts';
import { CALL_MS } from './call-limit.ts';
import type { Connection, TokenFunction } from './connection.ts';

/** client-node's `exec`, as far as it is used here. */
interface Executor {
  execFn(command: string, given: string[], options: SpawnOptionsWithoutStdio): unknown;
}

/**
 * An answer of the plugin, which calls share that need one at the same time or shortly after a failure: client-node would
 * start a command for each of them.
 */
interface Asked {
  /** No cached credential answers it. */
  isFresh: boolean;
  options: Promise<RequestOptions>;
}

const FAILED_MS = 2000;

/**
 * Adds the credentials of a kubeconfig's `exec` or `auth-provider`, by client-node: 1.4 MB and 90 ms that are loaded
 * only here. A client certificate from a plugin is used until the client is created again.
 * @param limitMs client-node waits for ever, and with it every call to the cluster and every watch
 */
export async function pluginConnection(
  text: string,
  source: string,
  connection: Connection,
  limitMs = CALL_MS,
): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const load = () => {
    const config = new KubeConfig();
    config.loadFromString(text);
    // biome-ignore lint/complexity/useLiteralKeys: TypeScript permits a private field only in this form
    for (const authenticator of config['authenticators']) if (isExecutor(authenticator)) limit(authenticator, limitMs);
    return config;
  };
  let config = load();
  const askOnce = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    try {
      // Also for what no signal ends: a request to an identity provider, or a command that a killed one has started.
      await withinMs(limitMs, config.applyToHTTPSOptions(options));
    } catch {
      // The error may quote the command's output, which is a credential.
      throw new ShootFluxError(
        `${source}: its exec or auth-provider failed, or took longer than ${limitMs / 1000} s; run kubectl with this ` +
          'kubeconfig to see why',
      );
    }
    return options;
  };
  let asked: Asked | undefined;
  const ask = (isFresh: boolean): Promise<RequestOptions> => {
    if (asked !== undefined && (asked.isFresh || !isFresh)) return asked.options;
    // client-node caches the credential until it expires, or forever if it has no expiry.
    if (isFresh) config = load();
    const own: Asked = { isFresh, options: askOnce() };
    const forget = () => {
      if (asked === own) asked = undefined;
    };
    own.options.then(forget, () => {
      own.isFresh = true;
      setTimeout(forget, FAILED_MS).unref();
    });
    asked = own;
    return own.options;
  };
  const { cert, key } = await ask(false);
  const token: TokenFunction = async (refresh) => bearerToken(await ask(refresh), source);
  token.origin = text;
  const withCertificate = typeof cert === 'string' && typeof key === 'string';
  return withCertificate ? { ...connection, cert, key } : { ...connection, token };
}

function isExecutor(authenticator: object): authenticator is Executor {
  return 'execFn' in authenticator;
}

/** Ends commands that take too long, or each call would leave one more behind. */
function limit(executor: Executor, timeout: number): void {
  executor.execFn = (command, given, options) => spawn(command, given, { ...options, timeout, killSignal: 'SIGKILL' });
}

function bearerToken(options: RequestOptions, source: string): string {
  const headers = options.headers as Record<string, string> | undefined;
  const authorization = headers?.Authorization ?? '';
  if (authorization.startsWith('Bearer ')) return authorization.slice('Bearer '.length);
  throw new ShootFluxError(`${source}: its exec or auth-provider returned neither a token nor a client certificate`);
}
