import { type Failure, ofKind } from '../remedies.ts';

/** Of a proxy that refuses a connection, Go reports only the words of its status (net/http, `dialConn`). */
export const proxyFailed: Failure = {
  reason: 'ProxyFailed',
  matches:
    /proxyconnect tcp: |socks connect tcp |Proxy Authentication Required|failed to parse proxy address|invalid proxy address|"https:[^"]*": (?:Forbidden|Bad Gateway|Service Unavailable|Gateway Timeout)$/i,
  what: 'Flux cannot connect through the proxy',
  remedy: 'correct {proxy}, and check that the shoot can reach the proxy',
};

/** Host keys, Secrets, keys in them, and proxies: whatever Flux needs before it can log in to a server. */
export const credentialFailures: Failure[] = [
  ...ofKind('GitRepository', [
    {
      reason: 'HostKeyMismatch',
      matches: /knownhosts: key mismatch|hostkey could not be verified/,
      what: 'the host key of the SSH server {host} does not match known_hosts',
      remedy: "if the server's key was changed on purpose, {hostKeys}",
    },
    {
      reason: 'HostKeyUnknown',
      matches: /knownhosts: key is unknown/,
      what: 'known_hosts has no key for the SSH server {host}',
      remedy: '{hostKeys}',
    },
    {
      reason: 'HostKeyUnknown',
      matches: /no common algorithm for host key/,
      what: 'none of the host keys in known_hosts has a type that the SSH server {host} offers',
      remedy: '{hostKeys}',
    },
    {
      reason: 'HostKeysUnusable',
      matches:
        /knownhosts: (?:\S+:\d+: )?(?:illegal base64|missing|no pattern|empty|bad|unknown)|unable to get known hosts/i,
      what: 'known_hosts cannot be parsed',
      remedy: '{hostKeys}',
    },
    {
      reason: 'CredentialsIncomplete',
      matches: /invalid '\w+' auth option: '(\w+)' (?:is required|requires 'username' to be set)/,
      what: ([, key]) => `the Secret has no key ${key === 'password' ? 'username' : key}`,
      remedy: 'add it to {secret}',
    },
  ]),
  {
    reason: 'CredentialsIncomplete',
    kind: 'Bucket',
    matches: /invalid '([^']+)' secret data: required fields? ('.+)$/,
    what: 'the Secret lacks $2',
    remedy: 'add the missing data to {secret}',
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /secret '(?:[^'/]+\/)?([^'/]+)'(?:: key '([^']+)' (?:not found|is missing)|: malformed basic auth - has '[^']+' but missing '([^']+)'| contains '[^']+' but missing '([^']+)')/i,
    what: ([, name, ...keys]) => `Secret ${name} has no key ${keys.find((key) => key !== undefined)}`,
    remedy: ([, name = ''], { secretNamed }) => `add it to ${secretNamed(name)}`,
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /'([^']+)' not found in secret '(?:[^'/]+\/)?([^']+)'|no certificates found in secret '(?:[^'/]+\/)?([^']+)'/,
    what: ([, key, name, other]) =>
      `Secret ${name ?? other} has no ${key === undefined ? 'certificate (.crt or .pem)' : `key ${key}`}`,
    remedy: ([, , name, other = ''], { secretNamed }) => `add it to ${secretNamed(name ?? other)}`,
  },
  {
    reason: 'CredentialsIncomplete',
    kind: 'GitRepository',
    matches: /github app data/,
    what: 'GitHub App credentials require both the App keys in the Secret and provider: github, and one is missing',
    remedy:
      'add githubAppID, githubAppInstallationID and githubAppPrivateKey to {secret}, or correct provider in {places.template}',
  },
  {
    reason: 'FeatureDisabled',
    matches: /please enable the (\w+) feature gate/,
    what: 'the Flux controllers of this shoot run without the feature gate $1',
    remedy: 'set objectLevelWorkloadIdentity to true, or remove serviceAccountName from {places.template}',
  },
  {
    reason: 'CredentialsUnusable',
    kind: 'GitRepository',
    matches: /decryption password incorrect/,
    what: 'password does not decrypt the private key (identity)',
    remedy: 'correct password in {secret}, and write it without a line break at its end',
  },
  {
    reason: 'CredentialsUnusable',
    kind: 'GitRepository',
    matches:
      /ssh: no key found|this private key is passphrase protected|cannot decode encrypted private keys|unable to construct auth method/,
    what: 'the private key cannot be read',
    remedy: 'put a private key in PEM format (identity) and its passphrase, if it has one (password), into {secret}',
  },
  {
    reason: 'CredentialsMissing',
    matches:
      /(?:public keys secret error|using provider '[^']+'): secrets? "([^"]+)" not found|(?:proxy options|TLS config|failed to generate transport for '[^']+'): .{0,500}secret '(?:[^'/]+\/)?([^']+)' not found/i,
    what: ([, name, other]) => `Secret ${name ?? other} does not exist in the shoot`,
    remedy: '{bring}, or correct the reference in {places.template}',
  },
  {
    reason: 'CredentialsMissing',
    matches: /failed to get (?:TLS )?(?:authentication )?secret '([^']+)'|secrets "([^"]+)" not found/i,
    what: ([, name = '', other = name]) => `Secret ${other} does not exist in the shoot`,
    remedy: ([, name = '', other = name], { secret, secretName, bring, places }) =>
      other.endsWith(`/${secretName}`) || other === secretName || secretName === undefined
        ? `create ${secret}, or correct ${places.secretRef}`
        : `${bring}, or correct the reference in ${places.template}`,
  },
  {
    reason: 'ServiceAccountMissing',
    matches: /serviceaccount '([^']+)' not found/i,
    what: 'ServiceAccount $1 does not exist in the shoot',
    remedy: 'create it, or correct serviceAccountName in {places.template}',
  },
  proxyFailed,
  {
    reason: 'AuthenticationFailed',
    kind: 'GitRepository',
    matches: /ssh: unable to authenticate/,
    what: '{host} rejects the SSH key',
    remedy: '{credentials}',
  },
];

/** Patterns that also fit more exact failures: matched last. */
export const vagueCredentialFailures: Failure[] = [
  {
    reason: 'AuthenticationFailed',
    matches: /failed to get credential from (\w+)|failed to configure authentication options/,
    what: ([, cloud]) => (cloud === undefined ? 'no credentials are available' : `${cloud} provides no credentials`),
    remedy: '{credentials}, or correct {places.provider}',
  },
];
