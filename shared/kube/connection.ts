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
