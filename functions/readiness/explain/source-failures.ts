import type { Failure } from './failure.ts';

const git = ['GitRepository'];
const oci = ['OCIRepository'];
const bucket = ['Bucket'];

/**
 * Why a source cannot be fetched, in the words of source-controller, go-git, Go's network library and registries. The
 * first that fits counts, so what is told most exactly comes first.
 */
export const sourceFailures: Failure[] = [
  {
    reason: 'HostKeyMismatch',
    kinds: git,
    matches: /knownhosts: key mismatch|hostkey could not be verified/,
    says: (_, { host, hostKeys }) => [
      `the SSH server ${host} shows another key than known_hosts has`,
      `if its key was changed on purpose, ${hostKeys}`,
    ],
  },
  {
    reason: 'HostKeyUnknown',
    kinds: git,
    matches: /knownhosts: key is unknown/,
    says: (_, { host, hostKeys }) => [`known_hosts has no key of the SSH server ${host}`, hostKeys],
  },
  {
    reason: 'HostKeyUnknown',
    kinds: git,
    matches: /no common algorithm for host key/,
    says: (_, { host, hostKeys }) => [`known_hosts has no key of a kind that the SSH server ${host} has`, hostKeys],
  },
  {
    reason: 'HostKeysUnusable',
    kinds: git,
    matches:
      /knownhosts: (?:\S+:\d+: )?(?:illegal base64|missing|no pattern|empty|bad|unknown)|unable to get known hosts/i,
    says: (_, { hostKeys }) => ['its known_hosts cannot be read', `${hostKeys}, as ssh-keyscan writes them`],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: git,
    matches: /invalid '\w+' auth option: '(\w+)' (?:is required|requires 'username' to be set)/,
    says: ([, key], { secret }) => [
      `its Secret has no ${key === 'password' ? 'username' : key}`,
      `put that key into ${secret}`,
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: bucket,
    matches: /invalid '([^']+)' secret data: required fields? ('.+)$/,
    says: ([, , keys], { secret }) => [`its Secret does not have ${keys}`, `put that into ${secret}`],
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /secret '(?:[^'/]+\/)?([^'/]+)'(?:: key '([^']+)' (?:not found|is missing)|: malformed basic auth - has '[^']+' but missing '([^']+)'| contains '[^']+' but missing '([^']+)')/i,
    says: ([, name, ...keys]) => [
      `Secret ${name} has no ${keys.find((key) => key !== undefined)}`,
      'put that key into the Secret that this one is a copy of',
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /'([^']+)' not found in secret '(?:[^'/]+\/)?([^']+)'|no certificates found in secret '(?:[^'/]+\/)?([^']+)'/,
    says: ([, key, name, other]) => [
      `Secret ${name ?? other} has no ${key ?? 'certificate (.crt or .pem)'}`,
      'put that key into the Secret that this one is a copy of',
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: git,
    matches: /github app data/,
    says: (_, { secret, places }) => [
      'the keys of a GitHub App and provider github belong together, and one of the two is not there',
      `put githubAppID, githubAppInstallationID and githubAppPrivateKey into ${secret}, or correct provider in ${places.template}`,
    ],
  },
  {
    reason: 'FeatureDisabled',
    matches: /please enable the (\w+) feature gate/,
    says: ([, gate], { places }) => [
      `the controllers of this Shoot run without the feature ${gate}`,
      `remove serviceAccountName from ${places.template}, and use a Secret instead`,
    ],
  },
  {
    reason: 'CredentialsUnusable',
    kinds: git,
    matches:
      /ssh: no key found|this private key is passphrase protected|cannot decode encrypted private keys|decryption password incorrect|unable to construct auth method/,
    says: (_, { secret }) => [
      'its private key cannot be read',
      `put a key in PEM form into identity of ${secret}, and its passphrase, if it has one, into password`,
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches:
      /(?:PGP public keys secret error|using provider '[^']+'): secrets? "([^"]+)" not found|(?:proxy options|failed to generate transport for '[^']+'): .*secret '(?:[^'/]+\/)?([^']+)' not found/i,
    says: ([, name, other], { places }) => [
      `Secret ${name ?? other} is not in the shoot`,
      `bring it there by additionalSecretResources, or correct what names it in ${places.template}`,
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches: /failed to get (?:authentication )?secret '([^']+)'|secrets "([^"]+)" not found/i,
    says: ([, name, other], { secret, places }) => [
      `Secret ${name ?? other} is not in the shoot`,
      `create ${secret}, or mend ${places.secretRef}`,
    ],
  },
  {
    reason: 'ServiceAccountMissing',
    matches: /serviceaccount '([^']+)' not found/i,
    says: ([, name], { places }) => [
      `ServiceAccount ${name} is not in the shoot`,
      `create it there, or correct serviceAccountName in ${places.template}`,
    ],
  },
  {
    reason: 'ProxyFailed',
    matches: /proxyconnect tcp: |Proxy Authentication Required|failed to parse proxy address|invalid proxy address/i,
    says: (_, { places }) => [
      'no connection through its proxy comes about',
      `correct address, username and password in the Secret that proxySecretRef in ${places.template} names`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: git,
    matches: /ssh: unable to authenticate/,
    says: (_, { host, credentials }) => [`${host} does not know the SSH key`, credentials],
  },
  {
    reason: 'NameNotResolved',
    matches: /\blookup (\S+?)(?: on \S+)?: .*(?:no such host|server misbehaving|i\/o timeout|connection refused)/,
    says: ([, host], { places }) => [
      `the name ${host} cannot be resolved in the shoot`,
      `see whether it is spelt right in ${places.url} and the shoot's DNS knows it`,
    ],
  },
  {
    reason: 'ConnectionRefused',
    matches: /(?:dial tcp (\S+): )?connect: connection refused/,
    says: (_, { host, places }) => [
      `${host} refuses the connection`,
      `see whether port and protocol are right in ${places.url} and the server runs`,
    ],
  },
  {
    reason: 'CertificateNotTrusted',
    matches: /x509: certificate signed by unknown authority|x509: .*self-signed|x509: .*not trusted/,
    says: (_, { host, secret }) => [
      `nobody whom Flux trusts has signed the certificate of ${host}`,
      `put the certificate of its authority as ca.crt into ${secret}`,
    ],
  },
  {
    reason: 'CertificateUnusable',
    matches:
      /failed to parse (?:CA certificate|TLS certificate and key)|invalid TLS certificate|failed to create TLS config/,
    says: () => [
      'the certificates in its Secret cannot be read',
      'put them in PEM form into ca.crt, tls.crt and tls.key',
    ],
  },
  {
    reason: 'CertificateInvalid',
    matches: /x509: certificate (?:is valid for|has expired|relies on|is not valid)|x509: cannot validate certificate/,
    says: (found, { host, places }) => [
      /expired/.test(found.input)
        ? `the certificate of ${host} has expired or is not valid yet`
        : `the certificate of ${host} is not for that name`,
      `renew the server's certificate, or use the name that it is for in ${places.url}`,
    ],
  },
  {
    reason: 'RateLimited',
    matches: /TOOMANYREQUESTS|\b429\b|rate limit exceeded/i,
    says: (_, { host, credentials, places }) => [
      `${host} answers no more for now, there were too many requests`,
      `raise ${places.interval}, or ${credentials}`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: oci,
    matches: /\bDENIED\b|\bUNAUTHORIZED\b|\b401 Unauthorized\b|\b403 Forbidden\b|status code 40[13]\b/i,
    says: (_, { url, credentials }) => [`the registry does not let Flux pull ${url}`, credentials],
  },
  {
    reason: 'RevisionInvalid',
    matches: /semver '([^']+)' parse error|improper constraint: (\S+)/,
    says: ([, range, other], { places }) => [`${range ?? other} is no range of versions`, `correct ${places.revision}`],
  },
  {
    reason: 'RevisionNotFound',
    kinds: oci,
    matches: /MANIFEST_UNKNOWN|NAME_UNKNOWN|status code 404|\b404 Not Found\b|no match found for semver/,
    says: (_, { url, places }) => [
      `the registry has no such artifact at ${url}`,
      `push it, or correct ${places.url} or ${places.revision}`,
    ],
  },
  {
    reason: 'ArtifactUnusable',
    kinds: oci,
    matches:
      /failed to extract layer|failed to find layer|layer.*not found|failed to parse artifact manifest|no layers/i,
    says: (_, { url, places }) => [
      `the artifact at ${url} has no layer that Flux can read`,
      `push it with "flux push artifact", or set layerSelector in ${places.template}`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: bucket,
    matches:
      /Access Denied|AccessDenied|InvalidAccessKeyId|Access Key Id you provided|SignatureDoesNotMatch|signature we calculated|AuthorizationFailure|\b403\b/i,
    says: (_, { host, credentials }) => [`${host} does not let Flux read the bucket`, credentials],
  },
  {
    reason: 'RepositoryNotFound',
    kinds: bucket,
    matches: /bucket '([^']+)' (?:not found|does not exist)|specified bucket does not exist|NoSuchBucket/i,
    says: ([, name], { places }) => [
      name === undefined ? 'there is no such bucket' : `there is no bucket ${name}`,
      `correct bucketName or endpoint in ${places.template}`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: git,
    matches: /authentication required|authorization failed|invalid credentials|status code: 40[13]\b/i,
    // Hosting sites answer so for a repository that is not there too, lest anybody finds out which are.
    says: (_, { url, credentials, places }) => [
      `${url} may not be read with these credentials, or is not there`,
      `see whether ${places.url} is right; if it is, ${credentials}`,
    ],
  },
  {
    reason: 'RevisionNotFound',
    kinds: git,
    matches:
      /couldn't find remote ref|no match found for semver|unable to resolve commit object for|reference not found/,
    says: (_, { url, revision, places }) => [`${url} has no ${revision}`, `push it, or correct ${places.revision}`],
  },
  {
    reason: 'RepositoryNotFound',
    kinds: git,
    matches:
      /repository not found|does not appear to be a git repository|status code: 404\b|could not be found or you don't have permission|does not exist or you do not have|cannot find repository/i,
    says: (_, { url, places, credentials }) => [
      `there is no repository ${url}, or these credentials may not see it`,
      `correct ${places.url}, or ${credentials}`,
    ],
  },
  {
    reason: 'RepositoryEmpty',
    kinds: git,
    matches: /(?:git|remote) repository is empty/,
    says: (_, { url, revision }) => [`the repository ${url} is empty`, `push ${revision}`],
  },
  {
    reason: 'CheckoutFailed',
    kinds: git,
    matches: /: (?:object not found|entry not found|unsupported object type|worktree contains unstaged changes)/,
    says: (_, { url, revision }) => [
      `${revision} of ${url} cannot be checked out as it is`,
      'see whether "git clone" takes it, and push it again',
    ],
  },
  {
    reason: 'NoGitServer',
    kinds: git,
    matches: /invalid pkt-len/,
    says: (_, { url, places }) => [
      `what answers at ${url} is no Git server, but for example a login page`,
      `correct ${places.url}`,
    ],
  },
  {
    reason: 'IncludeNotReady',
    kinds: git,
    matches: /no artifact available for include '([^']+)'/,
    says: ([, name]) => [`GitRepository ${name}, which it includes, has no artifact yet`, 'see what that one says'],
    isTransient: true,
  },
  {
    reason: 'IncludeFailed',
    kinds: git,
    matches: /(?:could not get resource for include|failed to copy|path calculation for include) '([^']+)'/,
    says: ([, name], { places }) => [
      `it cannot include GitRepository ${name}`,
      `see whether that is there with the folder that is named, or correct include in ${places.template}`,
    ],
  },
  {
    reason: 'PathNotFound',
    kinds: git,
    matches: /failed to sparse checkout directories/,
    says: (_, { places }) => [
      'the repository does not have all folders of sparseCheckout',
      `create them there, or correct sparseCheckout in ${places.template}`,
    ],
  },
  {
    reason: 'VerificationFailed',
    matches: /failed to verify.*(?:timeout|deadline exceeded|connection refused|reset by peer|\bEOF)/is,
    says: () => ['what verifies its signature does not answer', 'let the shoot reach it'],
  },
  {
    reason: 'VerificationFailed',
    matches:
      /failed to verify (?:the )?signature|signature verification|(?:unable to|cannot) verify|no matching signatures|verification failed/i,
    says: (_, { places }) => [
      'its signature is not by one of the trusted keys',
      `sign the revision, or correct verify in ${places.template}`,
    ],
  },
  {
    reason: 'UrlInvalid',
    matches:
      /failed to parse url|URL validation failed|invalid URL|unsupported protocol scheme|unknown transport|first path segment in URL|unsupported scheme/i,
    says: (_, { places }) => ['its URL cannot be used', `correct ${places.url}`],
  },
  {
    reason: 'StorageFull',
    matches: /no space left on device/,
    says: () => [
      'source-controller has no space left for artifacts',
      'exclude files with .sourceignore in the repository, or enlarge its volume',
    ],
  },
  {
    reason: 'StorageFailed',
    matches:
      /artifact to storage|failed to create artifact directory|failed to create temporary working directory|failed to acquire lock for artifact|target artifact path/,
    says: () => ['source-controller cannot keep what it has fetched', 'see its log and its volume /data in the shoot'],
  },
  {
    reason: 'ServerFailed',
    matches:
      /status code:? 5\d\d\b|\b50[0234] (?:Internal|Bad|Service|Gateway)|InternalError|ServiceUnavailable|SlowDown/i,
    says: (_, { host }) => [`${host} answers with an error of its own`, 'it is tried again'],
    isTransient: true,
  },
  {
    reason: 'ProtocolMismatch',
    matches: /server gave HTTP response to HTTPS client|first record does not look like a TLS handshake/,
    says: (_, { host, kind, places }) => [
      `${host} speaks HTTP where HTTPS is expected`,
      kind === 'GitRepository'
        ? `correct ${places.url}`
        : `correct ${places.url}, or set insecure in ${places.template}`,
    ],
  },
  {
    reason: 'TimedOut',
    matches: /i\/o timeout|connection timed out|context deadline exceeded|handshake timeout|Client\.Timeout exceeded/i,
    says: (_, { host, places }) => [
      `${host} did not answer in time`,
      `let the shoot reach it (firewall, proxy, NetworkPolicies), or raise ${places.timeout}`,
    ],
  },
  {
    reason: 'NotReachable',
    matches: /no route to host|network is unreachable|connection reset by peer|unexpected EOF|: EOF\b/,
    says: (_, { host }) => [
      `the connection to ${host} breaks`,
      'see whether the shoot may reach it (firewall, proxy, NetworkPolicies)',
    ],
  },
  {
    reason: 'CertificateNotTrusted',
    matches: /x509: |tls: /,
    says: (_, { host, secret }) => [
      `no TLS connection to ${host} comes about`,
      `mend the server's certificate, or put that of its authority as ca.crt into ${secret}`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    matches: /failed to get credential from (\w+)|failed to configure authentication options/,
    says: ([, cloud], { credentials, places }) => [
      cloud === undefined ? 'no credentials come about' : `${cloud} gives no credentials`,
      `correct provider in ${places.template} or the rights of who asks there, or ${credentials}`,
    ],
  },
];
