import { type FailingObject, failing, HOUR, type Servers, secretRef, TRUSTED } from './object.ts';

const main = { ref: { branch: 'main' } };

/** Sources that source-controller cannot fetch. */
export function failingSources(servers: Servers): FailingObject[] {
  return [...gitRepositories(servers), ...ociRepositories(servers), ...helmRepositories(servers), ...buckets(servers)];
}

function gitRepositories({ git, front, web, closed, silent }: Servers): FailingObject[] {
  const failed = failing('GitRepository');
  const http = { ...HOUR, ...main, url: git.httpUrl };
  const ssh = { ...HOUR, ...main, url: git.sshUrl };
  const tls = { ...HOUR, ...main, url: `https://${front}/fleet.git` };
  return [
    failed('good', http),
    failed('branch', { ...http, ref: { branch: 'none' } }, 'RevisionNotFound', 'has no branch none; push it'),
    failed('range', { ...http, ref: { semver: '>>9' } }, 'RevisionInvalid', 'is not a valid version range'),
    failed('authority', tls, 'CertificateNotTrusted', 'add the certificate of its authority as ca.crt to a new Secret'),
    failed(
      'password',
      { ...tls, ...secretRef('login') },
      'AuthenticationFailed',
      'the original of Secret flux-system/login',
    ),
    failed(
      'no-secret',
      { ...ssh, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ),
    failed(
      'no-identity',
      { ...ssh, ...secretRef('host-keys') },
      'CredentialsIncomplete',
      'the Secret has no key identity',
    ),
    failed('deploy-key', { ...ssh, ...secretRef('deploy-key') }, 'AuthenticationFailed', 'rejects the SSH key'),
    failed('host-key', { ...ssh, ...secretRef('other-host') }, 'HostKeyMismatch', 'does not match known_hosts'),
    failed(
      'refused',
      { ...http, url: `http://${closed}/a.git` },
      'ConnectionRefused',
      `${closed} refuses the connection`,
    ),
    failed('silent', { ...http, url: `http://${silent}/a.git`, timeout: '2s' }, 'TimedOut', 'did not respond in time'),
    failed('page', { ...http, url: `${web}/200` }, 'NoGitServer', 'does not respond like a Git server'),
    failed(
      'verify',
      { ...http, verify: { mode: 'HEAD', ...secretRef('none') } },
      'CredentialsMissing',
      'Secret none does not exist in the shoot; copy it there with additionalSecretResources',
    ),
  ];
}

function ociRepositories({ registry, closed }: Servers): FailingObject[] {
  const failed = failing('OCIRepository');
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), url: `oci://${registry}/fleet`, ref: { tag: 'v1' } };
  const { certSecretRef: _, ...untrusting } = all;
  const { secretRef: __, ...anonymous } = all;
  return [
    failed('good', all),
    failed('tag', { ...all, ref: { tag: 'v9' } }, 'RevisionNotFound', 'the registry has no such artifact'),
    failed('anonymous', anonymous, 'AuthenticationFailed', 'put .dockerconfigjson with pull access into a new Secret'),
    failed(
      'password',
      { ...all, ...secretRef('wrong-registry') },
      'AuthenticationFailed',
      'the original of Secret flux-system/wrong-registry',
    ),
    failed(
      'no-secret',
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ),
    failed(
      'no-authority',
      { ...all, certSecretRef: { name: 'none' } },
      'CredentialsMissing',
      'correct the reference in objects[1].spec',
    ),
    failed(
      'authority',
      untrusting,
      'CertificateNotTrusted',
      'a new Secret that you reference as objects[1].spec.certSecretRef',
    ),
    failed('refused', { ...all, url: `oci://${closed}/fleet` }, 'ConnectionRefused', 'refuses the connection'),
    failed(
      'unsigned',
      { ...all, verify: { provider: 'cosign', ...secretRef('cosign') } },
      'VerificationFailed',
      'correct verify in objects[1].spec',
    ),
  ];
}

function helmRepositories({ registry, web, closed, front }: Servers): FailingObject[] {
  const failed = failing('HelmRepository');
  const charts = { ...HOUR, url: `${web}/charts` };
  const oci = { ...HOUR, ...TRUSTED, type: 'oci', url: `oci://${registry}/charts` };
  return [
    failed('charts', charts),
    failed('oci', { ...oci, ...secretRef('registry') }),
    failed('oci-anonymous', oci),
    failed('oci-password', { ...oci, ...secretRef('wrong-registry') }),
    failed('oci-secret', { ...oci, ...secretRef('none') }),
    failed('not-found', { ...HOUR, url: `${web}/404` }, 'RepositoryNotFound', 'there is no repository of charts at'),
    failed('denied', { ...HOUR, url: `${web}/401` }, 'AuthenticationFailed', 'does not allow Flux to read the charts'),
    failed('page', { ...HOUR, url: `${web}/200` }, 'ArtifactUnusable', 'does not respond like a repository of charts'),
    failed('refused', { ...HOUR, url: `http://${closed}` }, 'ConnectionRefused', 'refuses the connection'),
    failed('authority', { ...HOUR, url: `https://${front}` }, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'),
    failed(
      'no-secret',
      { ...charts, ...secretRef('none') },
      'CredentialsMissing',
      'Secret flux-system/none does not exist',
    ),
    failed('no-username', { ...charts, ...secretRef('only-password') }, 'CredentialsIncomplete', 'has no key username'),
    failed('scheme', { ...HOUR, url: `oci://${registry}/charts` }, 'UrlInvalid', 'set type to oci in objects[1].spec'),
  ];
}

function buckets({ web, closed, front }: Servers): FailingObject[] {
  const failed = failing('Bucket');
  const host = web.replace('http://', '');
  const all = { ...HOUR, insecure: true, endpoint: host, bucketName: '404', ...secretRef('bucket') };
  const tls = { ...all, insecure: false, endpoint: front, bucketName: 'fleet' };
  return [
    failed('refused', { ...all, endpoint: closed }, 'ConnectionRefused', 'refuses the connection'),
    failed(
      'no-key',
      { ...all, ...secretRef('authority') },
      'CredentialsIncomplete',
      "the Secret lacks 'accesskey' and 'secretkey'",
    ),
    failed('not-found', all, 'RepositoryNotFound', 'bucket 404 does not exist'),
    failed(
      'denied',
      { ...all, bucketName: '403' },
      'AuthenticationFailed',
      'put accesskey and secretkey with read access',
    ),
    failed('http', { ...all, insecure: false }, 'ProtocolMismatch', 'or set insecure in objects[1].spec'),
    failed('authority', tls, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'),
    failed(
      'no-authority',
      { ...tls, certSecretRef: { name: 'none' } },
      'CredentialsMissing',
      'Secret none does not exist',
    ),
  ];
}
