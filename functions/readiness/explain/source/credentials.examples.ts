import {
  checkout,
  deployKey,
  type Examples,
  flux,
  fluxConfig,
  gitRepository,
  https,
  listed,
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
        'put the lines that ssh-keyscan git.example.com prints into knownHosts in ConfigMap flux-config',
      ],
      [`${checkout} clone '${ssh}': ssh: handshake failed: ssh: no common algorithm for host key; client offered: [ssh-ed25519], peer offered: [rsa-sha2-512]`]:
        'HostKeyUnknown: none of the host keys in known_hosts has a type that the SSH server git.example.com offers; put the lines that ssh-keyscan git.example.com prints into knownHosts',
      [`${checkout} clone '${ssh}': unable to construct auth method with options: knownhosts: /tmp/known_hosts:1: illegal base64 data at input byte 5`]:
        'HostKeysUnusable: known_hosts cannot be parsed; put the lines that ssh-keyscan git.example.com prints into knownHosts in ConfigMap flux-config',
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
        'CredentialsIncomplete: Secret proxy has no key address; add it to the original of Secret flux-system/proxy',
      "secretRef 'flux-system/github' has github app data but provider is not set to github":
        'CredentialsIncomplete: correct provider in source.template.spec of the providerConfig',
      'to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller':
        'FeatureDisabled: run without the feature gate ObjectLevelWorkloadIdentity; set objectLevelWorkloadIdentity to true, or remove serviceAccountName',
      'PGP public keys secret error: secrets "pgp" not found':
        'CredentialsMissing: Secret pgp does not exist in the shoot; copy it there with additionalSecretResources',
      [`${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": proxyconnect tcp: dial tcp: lookup proxy.local on 10.0.0.1:53: no such host`]:
        'ProxyFailed: correct flux.proxy (in config.yaml of ConfigMap flux-config, in the providerConfig, or in the defaults of the landscape)',
      [`${checkout} list remote for '${https}': Get "${https}/info/refs?service=git-upload-pack": Forbidden`]:
        'ProxyFailed: Flux cannot connect through the proxy; correct flux.proxy',
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
    },
  ],
  [
    flux('source', 'OCIRepository', 'fleet', { url: 'oci://1.dkr.ecr.eu-west-1.amazonaws.com/fleet', provider: 'aws' }),
    providerConfig,
    {
      'failed to get credential from aws: operation error STS: AssumeRoleWithWebIdentity':
        'AuthenticationFailed: aws provides no credentials; give the identity that Flux has with provider aws read access, or correct source.template.spec.provider of the providerConfig',
    },
  ],
  [
    gitRepository({ url: https, secretRef: { name: 'mine' }, proxySecretRef: { name: 'proxy' } }),
    listed,
    {
      [`${checkout} clone '${https}': Get "${https}": proxyconnect tcp: dial tcp 192.0.2.7:3128: connect: connection refused`]:
        'ProxyFailed: correct address, username and password in the original of Secret flux-system/proxy, and check that the shoot can reach the proxy',
      "invalid proxy address: secret 'flux-system/proxy': failed to parse proxy address":
        'ProxyFailed: in the original of Secret flux-system/proxy',
    },
  ],
  [
    gitRepository({ url: 'ssh://git@git.example.com:7999/org/fleet', secretRef: { name: 'flux-source' } }),
    fluxConfig,
    {
      [`${checkout} clone 'ssh://git@git.example.com:7999/org/fleet': ssh: handshake failed: knownhosts: key is unknown`]:
        'HostKeyUnknown: the SSH server git.example.com:7999; put the lines that ssh-keyscan -p 7999 git.example.com prints (they begin with [git.example.com]:7999) into knownHosts',
      [`${checkout} clone '${ssh}': unable to construct auth method with options: x509: decryption password incorrect`]:
        "CredentialsUnusable: password does not decrypt the private key (identity); correct password in Secret flux-source in the project's namespace, and write it without a line break at its end",
    },
  ],
  [
    gitRepository({ url: 'ssh://git@ssh.dev.azure.com/v3/org/project/fleet', secretRef: { name: 'flux-source' } }),
    fluxConfig,
    {
      [`${checkout} clone 'ssh://git@ssh.dev.azure.com/v3/org/project/fleet': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`]:
        'AuthenticationFailed: in Azure DevOps under User settings, SSH public keys; if it is no RSA key, annotate ConfigMap flux-config with gardener.cloud/operation=rotate-ssh-keypair-start to replace it.',
    },
  ],
  [
    gitRepository({ url: 'ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet', secretRef: { name: 'mine' } }),
    providerConfig,
    {
      [`${checkout} clone 'ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`]:
        'AuthenticationFailed: put an RSA private key (identity) into the Secret that source.secretResourceName of the providerConfig refers to, and add its public key in AWS IAM to the SSH keys for AWS CodeCommit of a user (its SSH key ID there is the user name in source.template.spec.url of the providerConfig)',
    },
  ],
  [
    gitRepository({ url: ssh, secretRef: { name: 'mine' } }),
    released,
    {
      [`${checkout} clone '${ssh}': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`]:
        'AuthenticationFailed: put a private key (identity) into Secret flux-system/mine in the shoot, and add its public key to the repository as a deploy key',
    },
  ],
];
