import type { Failure } from '../remedies.ts';

/** DNS, TCP, TLS and rate limits: the server cannot be reached, or does not serve Flux. */
export const connectionFailures: Failure[] = [
  {
    reason: 'NameNotResolved',
    matches: /\blookup (\S+?)(?: on \S+)?: .{0,500}(?:no such host|server misbehaving|i\/o timeout|connection refused)/,
    what: 'the host name $1 cannot be resolved in the shoot',
    remedy: 'check its spelling in {places.url}, and the DNS of the shoot',
  },
  {
    reason: 'ConnectionRefused',
    matches: /(?:dial tcp (\S+): )?connect: connection refused/,
    what: '{host} refuses the connection',
    remedy: 'check port and protocol in {places.url}, and that the server is running',
  },
  {
    reason: 'CertificateNotTrusted',
    matches: /x509: certificate signed by unknown authority|x509: .*self-signed|x509: .*not trusted/,
    what: 'the certificate of {host} is not signed by a trusted authority',
    remedy: 'add the certificate of its authority as ca.crt to {authority}',
  },
  {
    reason: 'CertificateUnusable',
    matches:
      /failed to parse (?:CA certificate|TLS certificate and key)|invalid TLS certificate|failed to create TLS config/,
    what: 'the certificates in the Secret cannot be parsed',
    remedy: 'put them in PEM format into ca.crt, or tls.crt and tls.key, of {authority}',
  },
  {
    reason: 'CertificateInvalid',
    matches: /x509: certificate (?:is valid for|has expired|relies on|is not valid)|x509: cannot validate certificate/,
    what: (found, { host }) =>
      /expired/.test(found.input)
        ? `the certificate of ${host} has expired or is not yet valid`
        : `the certificate of ${host} is not valid for that name`,
    remedy: "renew the server's certificate, or use a name that it is valid for in {places.url}",
  },
  {
    reason: 'RateLimited',
    matches: /TOOMANYREQUESTS|\b429\b|rate limit exceeded/i,
    what: '{host} rejects requests for now, because it has received too many',
    remedy: (_, { places, credentials, secretName }) =>
      secretName === undefined ? `raise ${places.interval}, or ${credentials}` : `raise ${places.interval}`,
  },
];

/** Patterns that also fit messages about repositories and signatures: matched after those. */
export const vagueConnectionFailures: Failure[] = [
  {
    reason: 'ServerFailed',
    matches:
      /status code:? 5\d\d\b|\b50[0234] (?:Internal|Bad|Service|Gateway)|InternalError|ServiceUnavailable|SlowDown/i,
    what: '{host} answers with a server error',
    remedy: 'Flux retries automatically',
    isTransient: true,
  },
  {
    reason: 'ProtocolMismatch',
    matches: /server gave HTTP response to HTTPS client|first record does not look like a TLS handshake/,
    what: '{host} uses HTTP where HTTPS is expected',
    remedy: (_, { kind, places }) =>
      kind === 'GitRepository'
        ? `correct ${places.url}`
        : `correct ${places.url}, or set insecure in ${places.template}`,
  },
  {
    reason: 'TimedOut',
    matches: /i\/o timeout|connection timed out|context deadline exceeded|handshake timeout|Client\.Timeout exceeded/i,
    what: '{host} did not respond in time',
    remedy: 'allow the shoot to reach it (firewall, proxy, NetworkPolicies), or raise {places.timeout}',
  },
  {
    reason: 'NotReachable',
    matches: /no route to host|network is unreachable|connection reset by peer|unexpected EOF|: EOF\b/,
    what: 'the connection to {host} fails',
    remedy: 'check that the shoot can reach it (firewall, proxy, NetworkPolicies)',
  },
  {
    reason: 'CertificateNotTrusted',
    matches: /x509: |tls: /,
    what: 'no TLS connection to {host} can be established',
    remedy: "correct the server's certificate, or add the certificate of its authority as ca.crt to {authority}",
  },
];
