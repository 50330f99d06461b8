import type { Failure } from '../remedies.ts';

const git = ['GitRepository'];
const bucket = ['Bucket'];

/** Host keys, Secrets, keys in them, and proxies: whatever Flux needs before it can log in to a server. */
export const credentialFailures: Failure[] = [
  {
    reason: 'HostKeyMismatch',
    kinds: git,
    matches: /knownhosts: key mismatch|hostkey could not be verified/,
    says: (_, { host, hostKeys }) => [
      `the host key of the SSH server ${host} does not match known_hosts`,
      `if the server's key was changed on purpose, ${hostKeys}`,
    ],
  },
  {
    reason: 'HostKeyUnknown',
    kinds: git,
    matches: /knownhosts: key is unknown/,
    says: (_, { host, hostKeys }) => [`known_hosts has no key for the SSH server ${host}`, hostKeys],
  },
  {
    reason: 'HostKeyUnknown',
    kinds: git,
    matches: /no common algorithm for host key/,
    says: (_, { host, hostKeys }) => [
      `none of the host keys in known_hosts has a type that the SSH server ${host} offers`,
      hostKeys,
    ],
  },
  {
    reason: 'HostKeysUnusable',
    kinds: git,
    matches:
      /knownhosts: (?:\S+:\d+: )?(?:illegal base64|missing|no pattern|empty|bad|unknown)|unable to get known hosts/i,
    says: (_, { hostKeys }) => ['known_hosts cannot be parsed', `${hostKeys}, in the format of ssh-keyscan`],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: git,
    matches: /invalid '\w+' auth option: '(\w+)' (?:is required|requires 'username' to be set)/,
    says: ([, key], { secret }) => [
      `the Secret has no key ${key === 'password' ? 'username' : key}`,
      `add it to ${secret}`,
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: bucket,
    matches: /invalid '([^']+)' secret data: required fields? ('.+)$/,
    says: ([, , keys], { secret }) => [`the Secret lacks ${keys}`, `add the missing data to ${secret}`],
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /secret '(?:[^'/]+\/)?([^'/]+)'(?:: key '([^']+)' (?:not found|is missing)|: malformed basic auth - has '[^']+' but missing '([^']+)'| contains '[^']+' but missing '([^']+)')/i,
    says: ([, name, ...keys]) => [
      `Secret ${name} has no key ${keys.find((key) => key !== undefined)}`,
      'add it to the Secret that this one is copied from',
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    matches:
      /'([^']+)' not found in secret '(?:[^'/]+\/)?([^']+)'|no certificates found in secret '(?:[^'/]+\/)?([^']+)'/,
    says: ([, key, name, other]) => [
      `Secret ${name ?? other} has no ${key === undefined ? 'certificate (.crt or .pem)' : `key ${key}`}`,
      'add it to the Secret that this one is copied from',
    ],
  },
  {
    reason: 'CredentialsIncomplete',
    kinds: git,
    matches: /github app data/,
    says: (_, { secret, places }) => [
      'GitHub App credentials require both the App keys in the Secret and provider: github, and one is missing',
      `add githubAppID, githubAppInstallationID and githubAppPrivateKey to ${secret}, or correct provider in ${places.template}`,
    ],
  },
  {
    reason: 'FeatureDisabled',
    matches: /please enable the (\w+) feature gate/,
    says: ([, gate], { places }) => [
      `the Flux controllers of this shoot run without the feature gate ${gate}`,
      `remove serviceAccountName from ${places.template} and use a Secret instead`,
    ],
  },
  {
    reason: 'CredentialsUnusable',
    kinds: git,
    matches:
      /ssh: no key found|this private key is passphrase protected|cannot decode encrypted private keys|decryption password incorrect|unable to construct auth method/,
    says: (_, { secret }) => [
      'the private key cannot be read',
      `put a private key in PEM format (identity) and its passphrase, if it has one (password), into ${secret}`,
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches:
      /(?:public keys secret error|using provider '[^']+'): secrets? "([^"]+)" not found|(?:proxy options|TLS config|failed to generate transport for '[^']+'): .{0,500}secret '(?:[^'/]+\/)?([^']+)' not found/i,
    says: ([, name, other], { places }) => [
      `Secret ${name ?? other} does not exist in the shoot`,
      `copy it there with additionalSecretResources, or correct the reference in ${places.template}`,
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches: /failed to get (?:TLS )?(?:authentication )?secret '([^']+)'|secrets "([^"]+)" not found/i,
    says: ([, name = '', other = name], { secret, secretName, places }) => [
      `Secret ${other} does not exist in the shoot`,
      other.endsWith(`/${secretName}`) || other === secretName || secretName === undefined
        ? `create ${secret}, or correct ${places.secretRef}`
        : `copy it there with additionalSecretResources, or correct the reference in ${places.template}`,
    ],
  },
  {
    reason: 'ServiceAccountMissing',
    matches: /serviceaccount '([^']+)' not found/i,
    says: ([, name], { places }) => [
      `ServiceAccount ${name} does not exist in the shoot`,
      `create it, or correct serviceAccountName in ${places.template}`,
    ],
  },
  {
    reason: 'ProxyFailed',
    matches: /proxyconnect tcp: |Proxy Authentication Required|failed to parse proxy address|invalid proxy address/i,
    says: (_, { places }) => [
      'Flux cannot connect through the proxy',
      `correct address, username and password in the Secret that proxySecretRef in ${places.template} refers to`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: git,
    matches: /ssh: unable to authenticate/,
    says: (_, { host, credentials }) => [`${host} rejects the SSH key`, credentials],
  },
];

/** Patterns that also fit more exact failures: matched last. */
export const vagueCredentialFailures: Failure[] = [
  {
    reason: 'AuthenticationFailed',
    matches: /failed to get credential from (\w+)|failed to configure authentication options/,
    says: ([, cloud], { credentials, places }) => [
      cloud === undefined ? 'no credentials are available' : `${cloud} provides no credentials`,
      `correct provider in ${places.template} or the permissions of the identity that Flux uses there, or ${credentials}`,
    ],
  },
];
