import type { RequestOptions } from 'node:https';
import { ShootFluxError } from '../errors.ts';
import type { Connection, TokenFunction } from './connection.ts';

/**
 * Adds the credentials of a kubeconfig's `exec` or `auth-provider`, by client-node: 1.4 MB and 90 ms that are loaded
 * only here. A client certificate from a plugin is used until the client is created again.
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
      // The error may quote the command's output, which is a credential.
      throw new ShootFluxError(
        `${source}: its exec or auth-provider failed; run kubectl with this kubeconfig to see why`,
      );
    }
    return options;
  };
  const { cert, key } = await ask();
  const token: TokenFunction = async (refresh) => {
    // client-node caches the credential until it expires, or forever if it has no expiry.
    if (refresh) config = load();
    return bearerToken(await ask(), source);
  };
  token.origin = text;
  const withCertificate = typeof cert === 'string' && typeof key === 'string';
  return withCertificate ? { ...connection, cert, key } : { ...connection, token };
}

function bearerToken(options: RequestOptions, source: string): string {
  const headers = options.headers as Record<string, string> | undefined;
  const authorization = headers?.Authorization ?? '';
  if (authorization.startsWith('Bearer ')) return authorization.slice('Bearer '.length);
  throw new ShootFluxError(`${source}: its exec or auth-provider returned neither a token nor a client certificate`);
}
