import { type FailingObject, failing, HOUR, type Servers, secretRef, TRUSTED } from './object.ts';

const main = { ref: { branch: 'main' } };

/** Sources that source-controller cannot fetch. */
export function failingSources(servers: Servers): FailingObject[] {
  return [...gitRepositories(servers), ...ociRepositories(servers), ...helmRepositories(servers), ...buckets(servers)];
}

function gitRepositories({ git, front, web, closed, silent }: Servers): FailingObject[] {
  const http = { ...HOUR, ...main, url: git.httpUrl };
  const ssh = { ...HOUR, ...main, url: git.sshUrl };
  const tls = { ...HOUR, ...main, url: `https://${front}/fleet.git` };
  return failing('GitRepository', {
    good: [http],
    branch: [{ ...http, ref: { branch: 'none' } }, 'RevisionNotFound', 'has no branch none; push it'],
    range: [{ ...http, ref: { semver: '>>9' } }, 'RevisionInvalid', 'is not a valid version range'],
    authority: [tls, 'CertificateNotTrusted', 'add the certificate of its authority as ca.crt to a new Secret'],
    password: [{ ...tls, ...secretRef('login') }, 'AuthenticationFailed', 'the original of Secret flux-system/login'],
    'no-secret': [
      { ...ssh, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ],
    'no-identity': [{ ...ssh, ...secretRef('host-keys') }, 'CredentialsIncomplete', 'the Secret has no key identity'],
    'deploy-key': [{ ...ssh, ...secretRef('deploy-key') }, 'AuthenticationFailed', 'rejects the SSH key'],
    'host-key': [{ ...ssh, ...secretRef('other-host') }, 'HostKeyMismatch', 'does not match known_hosts'],
    refused: [{ ...http, url: `http://${closed}/a.git` }, 'ConnectionRefused', `${closed} refuses the connection`],
    silent: [{ ...http, url: `http://${silent}/a.git`, timeout: '2s' }, 'TimedOut', 'did not respond in time'],
    page: [{ ...http, url: `${web}/200` }, 'NoGitServer', 'does not respond like a Git server'],
    verify: [
      { ...http, verify: { mode: 'HEAD', ...secretRef('none') } },
      'CredentialsMissing',
      'Secret none does not exist in the shoot; copy it there with additionalSecretResources',
    ],
  });
}

function ociRepositories({ registry, closed }: Servers): FailingObject[] {
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), url: `oci://${registry}/fleet`, ref: { tag: 'v1' } };
  const { certSecretRef: _, ...untrusting } = all;
  const { secretRef: __, ...anonymous } = all;
  return failing('OCIRepository', {
    good: [all],
    tag: [{ ...all, ref: { tag: 'v9' } }, 'RevisionNotFound', 'the registry has no such artifact'],
    anonymous: [anonymous, 'AuthenticationFailed', 'put .dockerconfigjson with pull access into a new Secret'],
    password: [
      { ...all, ...secretRef('wrong-registry') },
      'AuthenticationFailed',
      'the original of Secret flux-system/wrong-registry',
    ],
    'no-secret': [
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ],
    'no-authority': [
      { ...all, certSecretRef: { name: 'none' } },
      'CredentialsMissing',
      'correct the reference in objects[1].spec',
    ],
    authority: [
      untrusting,
      'CertificateNotTrusted',
      'a new Secret that you reference as objects[1].spec.certSecretRef',
    ],
    refused: [{ ...all, url: `oci://${closed}/fleet` }, 'ConnectionRefused', 'refuses the connection'],
    unsigned: [
      { ...all, verify: { provider: 'cosign', ...secretRef('cosign') } },
      'VerificationFailed',
      'correct verify in objects[1].spec',
    ],
  });
}

function helmRepositories({ registry, web, closed, front }: Servers): FailingObject[] {
  const charts = { ...HOUR, url: `${web}/charts` };
  const oci = { ...HOUR, ...TRUSTED, type: 'oci', url: `oci://${registry}/charts` };
  return failing('HelmRepository', {
    charts: [charts],
    oci: [{ ...oci, ...secretRef('registry') }],
    'oci-anonymous': [oci],
    'oci-password': [{ ...oci, ...secretRef('wrong-registry') }],
    'oci-secret': [{ ...oci, ...secretRef('none') }],
    'not-found': [{ ...HOUR, url: `${web}/404` }, 'RepositoryNotFound', 'there is no repository of charts at'],
    denied: [{ ...HOUR, url: `${web}/401` }, 'AuthenticationFailed', 'does not allow Flux to read the charts'],
    page: [{ ...HOUR, url: `${web}/200` }, 'ArtifactUnusable', 'does not respond like a repository of charts'],
    refused: [{ ...HOUR, url: `http://${closed}` }, 'ConnectionRefused', 'refuses the connection'],
    authority: [{ ...HOUR, url: `https://${front}` }, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'],
    'no-secret': [{ ...charts, ...secretRef('none') }, 'CredentialsMissing', 'Secret flux-system/none does not exist'],
    'no-username': [{ ...charts, ...secretRef('only-password') }, 'CredentialsIncomplete', 'has no key username'],
    scheme: [{ ...HOUR, url: `oci://${registry}/charts` }, 'UrlInvalid', 'set type to oci in objects[1].spec'],
  });
}

function buckets({ web, closed, front }: Servers): FailingObject[] {
  const host = web.replace('http://', '');
  const all = { ...HOUR, insecure: true, endpoint: host, bucketName: '404', ...secretRef('bucket') };
  const tls = { ...all, insecure: false, endpoint: front, bucketName: 'fleet' };
  return failing('Bucket', {
    refused: [{ ...all, endpoint: closed }, 'ConnectionRefused', 'refuses the connection'],
    'no-key': [
      { ...all, ...secretRef('authority') },
      'CredentialsIncomplete',
      "the Secret lacks 'accesskey' and 'secretkey'",
    ],
    'not-found': [all, 'RepositoryNotFound', 'bucket 404 does not exist'],
    denied: [{ ...all, bucketName: '403' }, 'AuthenticationFailed', 'put accesskey and secretkey with read access'],
    http: [{ ...all, insecure: false }, 'ProtocolMismatch', 'or set insecure in objects[1].spec'],
    authority: [tls, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'],
    'no-authority': [{ ...tls, certSecretRef: { name: 'none' } }, 'CredentialsMissing', 'Secret none does not exist'],
  });
}
