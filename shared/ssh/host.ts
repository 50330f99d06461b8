/** Where an SSH server listens, spelt as in the URL: Flux compares host names by the letter. */
export interface SshHost {
  host: string;
  port: number;
}

const SSH_PORT = 22;

/**
 * The server of an `ssh://` URL.
 * @throws TypeError when the text is no URL
 */
export function sshHost(url: string): SshHost {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SSH_PORT : Number(port) };
}

/** How known_hosts names it: `host`, or `[host]:port` where the port is another one or the host is an IPv6 address. */
export function hostPattern({ host, port }: SshHost): string {
  return port === SSH_PORT && !host.includes(':') ? host : `[${host}]:${port}`;
}
