/** One request for a repository; credentials are never part of it. */
export interface Access {
  protocol: 'http' | 'ssh';
  /** The repository's name without `.git`, as the client asked for it. */
  repository: string;
  /** The user name (HTTP) or the key's fingerprint (SSH); absent: no login. */
  who?: string | undefined;
  allowed: boolean;
}
