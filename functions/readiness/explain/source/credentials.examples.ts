import {
  checkout,
  deployKey,
  type Examples,
  flux,
  fluxConfig,
  gitRepository,
  https,
  oci,
  overHttps,
  overSsh,
  providerConfig,
  released,
  ssh,
} from '../examples.testing.ts';

export const credentialExamples: Examples[] = [
  [
    overSsh,
    fluxConfig,
    {
      [`${checkout} clone '${ssh}': ssh: handshake failed: knownhosts: key mismatch`]: [
        'HostKeyMismatch: GitRepository flux-system/main-gitrepo: the host key of the SSH server git.example.com does not match known_hosts; ',
        "put the server's host keys into knownHosts in ConfigMap flux-config",
      ],
      [`${checkout} clone '${ssh}': ssh: handshake failed: ssh: no common algorithm for host key; client offered: [ssh-ed25519], peer offered: [rsa-sha2-512]`]:
        "HostKeyUnknown: none of the host keys in known_hosts has a type that the SSH server git.example.com offers; put the server's host keys into knownHosts",
      [`${checkout} clone '${ssh}': unable to construct auth method with options: knownhosts: /tmp/known_hosts:1: illegal base64 data at input byte 5`]:
        "HostKeysUnusable: known_hosts cannot be parsed; put the server's host keys into knownHosts in ConfigMap flux-config, in the format of ssh-keyscan",
      "failed to configure authentication options: invalid 'ssh' auth option: 'known_hosts' is required":
        "CredentialsIncomplete: the Secret has no key known_hosts; add it to Secret flux-source in the project's namespace",
      'failed to get secret \'flux-system/flux-source\': secrets "flux-source" not found':
        'CredentialsMissing: Secret flux-system/flux-source does not exist in the shoot',
      [`${checkout} clone '${ssh}': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`]:
        [
          'AuthenticationFailed: git.example.com rejects the SSH key; ',
          'flux.extensions.gardener.cloud/public-key of Secret flux-source',
          deployKey,
        ],
    },
  ],
  [
    overSsh,
    providerConfig,
    {
      [`${checkout} list remote for '${ssh}': ssh: handshake failed: knownhosts: key is unknown`]:
        'HostKeyUnknown: known_hosts in the Secret that source.secretResourceName of the providerConfig refers to',
      [`${checkout} clone '${ssh}': unable to construct auth method with options: ssh: no key found`]:
        'CredentialsUnusable: the private key cannot be read',
    },
  ],
  [
    overHttps,
    providerConfig,
    {
      "failed to configure authentication options: invalid 'https' auth option: 'password' requires 'username' to be set":
        'CredentialsIncomplete: the Secret has no key username',
      "failed to configure proxy options: secret 'flux-system/proxy': key 'address' not found":
        'CredentialsIncomplete: Secret proxy has no key address; add it to the Secret that this one is copied from',
      "secretRef 'flux-system/github' has github app data but provider is not set to github":
        'CredentialsIncomplete: correct provider in source.template.spec of the providerConfig',
      'to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller':
        'FeatureDisabled: run without the feature gate ObjectLevelWorkloadIdentity; remove serviceAccountName',
      'PGP public keys secret error: secrets "pgp" not found':
        'CredentialsMissing: Secret pgp does not exist in the shoot; copy it there with additionalSecretResources',
      [`${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": proxyconnect tcp: dial tcp: lookup proxy.local on 10.0.0.1:53: no such host`]:
        'ProxyFailed: in the Secret that proxySecretRef in source.template.spec of the providerConfig refers to',
    },
  ],
  [
    flux('source', 'Bucket', 'fleet', { endpoint: 's3.example.com', secretRef: { name: 's3' } }),
    providerConfig,
    {
      "invalid 's3' secret data: required fields 'accesskey' and 'secretkey'":
        "CredentialsIncomplete: the Secret lacks 'accesskey' and 'secretkey'; add the missing data to the Secret that source.secretResourceName",
    },
  ],
  [
    oci,
    providerConfig,
    {
      "failed to verify the signature using provider 'notation': 'trustpolicy.json' not found in secret 'flux-system/notation'":
        'CredentialsIncomplete: Secret notation has no key trustpolicy.json',
      "serviceaccount 'flux-system/puller' not found":
        'ServiceAccountMissing: ServiceAccount flux-system/puller does not exist in the shoot; create it, or correct serviceAccountName',
      'failed to get credential from aws: operation error STS: AssumeRoleWithWebIdentity':
        'AuthenticationFailed: aws provides no credentials; correct provider in source.template.spec of the providerConfig',
    },
  ],
  [
    gitRepository({ url: ssh, secretRef: { name: 'mine' } }),
    released,
    {
      [`${checkout} clone '${ssh}': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`]:
        'AuthenticationFailed: put the private key of a deploy key of the repository (identity) into Secret flux-system/mine in the shoot',
    },
  ],
];
