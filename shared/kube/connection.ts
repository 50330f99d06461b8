/**
 * A bearer token, or a function that returns the current one. The function may cache; `refresh` is true after a 401 and
 * bypasses the cache.
 */
export type TokenSource = string | ((refresh: boolean) => Promise<string>);

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
