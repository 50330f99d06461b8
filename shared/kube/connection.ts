import { readFile } from 'node:fs/promises';
import { fileProblem, RetryableError, ShootFluxError } from '../errors.ts';

/** Returns the current token. It may cache; `refresh` is true after a 401 and bypasses the cache. */
export interface TokenFunction {
  (refresh: boolean): Promise<string>;
  /** Where the tokens come from: functions with equal origins are interchangeable. */
  origin?: string;
}

/** A bearer token, or a function that returns the current one. */
export type TokenSource = string | TokenFunction;

/** The address of an API server, and our credentials for it. */
export interface Connection {
  /** `https://host[:port][/path]`; plain HTTP is rejected, because tokens would travel in clear text. */
  server: string;
  /** PEM; default: the certificate authorities that Node trusts. */
  ca?: string | undefined;
  /** Name in the server's certificate, if it differs from the host. */
  serverName?: string | undefined;
  token?: TokenSource | undefined;
  /** Client certificate and key, PEM. */
  cert?: string | undefined;
  key?: string | undefined;
  /** True: accepts any server certificate (kubeconfig `insecure-skip-tls-verify`). */
  insecure?: boolean | undefined;
}

/** Returns true if a client of one connection serves the other as well. */
export function isSameConnection(one: Connection, other: Connection): boolean {
  const fields = ['server', 'ca', 'serverName', 'cert', 'key', 'insecure'] as const;
  return fields.every((field) => one[field] === other[field]) && isSameToken(one.token, other.token);
}

function isSameToken(one: TokenSource | undefined, other: TokenSource | undefined): boolean {
  if (typeof one !== 'function' || typeof other !== 'function') return one === other;
  return one === other || (one.origin !== undefined && one.origin === other.origin);
}

/** Projected tokens are replaced at 80 % of their lifetime, at least two minutes before they expire. */
const rereadAfterMs = 60_000;

/** Returns the token of a file that kubelet rotates (a projected token): reads it once a minute and after a 401. */
export function tokenFile(path: string, now: () => number = Date.now): TokenSource {
  let token = '';
  let readAt = Number.NEGATIVE_INFINITY;
  const current = async (refresh: boolean) => {
    if (!refresh && now() - readAt < rereadAfterMs) return token;
    let read: string;
    try {
      read = (await readFile(path, 'utf8')).trim();
    } catch (error) {
      throw new RetryableError(`cannot read token file ${path}: ${fileProblem(error)}`);
    }
    // An API server treats a request with an empty token as anonymous.
    if (read === '') throw new RetryableError(`token file ${path} is empty`);
    token = read;
    readAt = now();
    return token;
  };
  return Object.assign(current, { origin: path });
}

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the namespace of the pod that this process runs in. */
export async function ownNamespace(directory = serviceAccount): Promise<string> {
  try {
    return (await readFile(`${directory}/namespace`, 'utf8')).trim();
  } catch (error) {
    throw new ShootFluxError(`cannot read ${directory}/namespace: ${fileProblem(error)}; let the pod mount it`);
  }
}

/** Returns the connection to the cluster that this pod runs in, as its ServiceAccount. */
export async function inCluster(
  environment: NodeJS.ProcessEnv = process.env,
  directory = serviceAccount,
): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host) throw new ShootFluxError('KUBERNETES_SERVICE_HOST is not set: this process does not run in a cluster');
  try {
    const ca = await readFile(`${directory}/ca.crt`, 'utf8');
    const address = host.includes(':') ? `[${host}]` : host;
    return { server: `https://${address}:${port}`, ca, token: tokenFile(`${directory}/token`) };
  } catch (error) {
    const remedy = 'let the pod mount its ServiceAccount token';
    throw new ShootFluxError(`cannot read ${directory}/ca.crt: ${fileProblem(error)}; ${remedy}`);
  }
}
