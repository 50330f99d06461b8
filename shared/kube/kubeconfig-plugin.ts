import type { RequestOptions } from 'node:https';
import { ShootFluxError } from '../errors.ts';
import type { Connection, TokenSource } from './connection.ts';

/**
 * Adds what a kubeconfig's `exec` or `auth-provider` yields, by client-node: 1.4 MB and 90 ms that are loaded for
 * nobody else. A client certificate from a plugin is used until the client is made anew.
 */
export async function pluginConnection(text: string, source: string, connection: Connection): Promise<Connection> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const load = () => {
    const config = new KubeConfig();
    config.loadFromString(text);
    return config;
  };
  let config = load();
  const ask = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch {
      // The command's output may be quoted in the error, and it is a credential.
      throw new ShootFluxError(`${source}: its exec or auth-provider failed; run kubectl with it to see why`);
    }
    return options;
  };
  const { cert, key } = await ask();
  const token: TokenSource = async (refresh) => {
    // client-node keeps the credential until it expires, and for ever when it does not say when.
    if (refresh) config = load();
    return bearerToken(await ask(), source);
  };
  const withCertificate = typeof cert === 'string' && typeof key === 'string';
  return withCertificate ? { ...connection, cert, key } : { ...connection, token };
}

function bearerToken(options: RequestOptions, source: string): string {
  const headers = options.headers as Record<string, string> | undefined;
  const authorization = headers?.Authorization ?? '';
  if (authorization.startsWith('Bearer ')) return authorization.slice('Bearer '.length);
  throw new ShootFluxError(`${source}: its exec or auth-provider gave neither a token nor a client certificate`);
}
