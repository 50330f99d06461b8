/** Where an SSH server listens, spelled as in the URL: Flux compares host names case-sensitively. */
export interface SshHost {
  host: string;
  port: number;
}

const SSH_PORT = 22;

/**
 * Returns the server of an `ssh://` URL.
 * @throws TypeError when the text is not a URL
 */
export function sshHost(url: string): SshHost {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? SSH_PORT : Number(port) };
}

/** Returns the host's name in known_hosts: `host`, or `[host]:port` for another port than 22 or an IPv6 address. */
export function hostPattern({ host, port }: SshHost): string {
  return port === SSH_PORT && !host.includes(':') ? host : `[${host}]:${port}`;
}
