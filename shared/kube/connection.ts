/**
 * A bearer token, or where the current one comes from. A function may cache; `refresh` is true when the API server has
 * refused the last one (401), and then the source is asked itself.
 */
export type TokenSource = string | ((refresh: boolean) => Promise<string>);

/** How an API server is reached and who we are to it. */
export interface Connection {
  /** `https://host[:port][/path]`; plain HTTP is refused, tokens would travel in clear text. */
  server: string;
  /** PEM; default: the authorities that Node trusts. */
  ca?: string | undefined;
  /** Name that the certificate must have, when it is not the host's. */
  serverName?: string | undefined;
  token?: TokenSource | undefined;
  /** Client certificate and key, PEM. */
  cert?: string | undefined;
  key?: string | undefined;
  /** True: any server certificate will do (kubeconfig `insecure-skip-tls-verify`). */
  insecure?: boolean | undefined;
}
