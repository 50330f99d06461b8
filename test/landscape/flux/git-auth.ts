import type { KubeObject } from '../client/client.ts';
import { FluxFailure } from './status.ts';

/** Credentials for a repository. */
export type GitAuth =
  | { type: 'none' }
  | { type: 'ssh'; identity: string; knownHosts: string; password?: string | undefined }
  | { type: 'basic'; username: string; password: string }
  | { type: 'bearer'; token: string };

/**
 * Returns the credentials in a GitRepository's Secret: for `ssh://` the keys `identity` and `known_hosts` are required
 * (docs/flux-facts.md, Sources and Secrets).
 * @throws FluxFailure AuthenticationFailed when a key is missing
 */
export function gitAuth(url: string, secret: KubeObject | undefined): GitAuth {
  const data = (secret?.data ?? {}) as Record<string, string>;
  const value = (key: string) =>
    data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString('utf8');
  if (url.startsWith('ssh://')) {
    const [identity, knownHosts] = [value('identity'), value('known_hosts')];
    if (!identity) throw failure("invalid 'ssh' auth option: 'identity' is required");
    if (!knownHosts) throw failure("invalid 'ssh' auth option: 'known_hosts' is required");
    return { type: 'ssh', identity, knownHosts, password: value('password') };
  }
  const token = value('bearerToken');
  if (token) return { type: 'bearer', token };
  const [username, password] = [value('username'), value('password')];
  if (password && !username) throw failure("invalid 'http' auth option: 'password' requires 'username' to be set");
  return username ? { type: 'basic', username, password: password ?? '' } : { type: 'none' };
}

function failure(message: string): FluxFailure {
  return new FluxFailure('AuthenticationFailed', `failed to configure authentication options: ${message}`);
}
