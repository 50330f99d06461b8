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
    ready: { good: [http] },
    RevisionNotFound: { branch: [{ ...http, ref: { branch: 'none' } }, 'has no branch none; push it'] },
    RevisionInvalid: { range: [{ ...http, ref: { semver: '>>9' } }, 'is not a valid version range'] },
    CertificateNotTrusted: { authority: [tls, 'add the certificate of its authority as ca.crt to a new Secret'] },
    AuthenticationFailed: {
      password: [{ ...tls, ...secretRef('login') }, 'the original of Secret flux-system/login'],
      'deploy-key': [{ ...ssh, ...secretRef('deploy-key') }, 'rejects the SSH key'],
    },
    CredentialsMissing: {
      'no-secret': [{ ...ssh, ...secretRef('none') }, 'create the original of Secret flux-system/none'],
      verify: [
        { ...http, verify: { mode: 'HEAD', ...secretRef('none') } },
        'Secret none does not exist in the shoot; copy it there with additionalSecretResources',
      ],
    },
    CredentialsIncomplete: { 'no-identity': [{ ...ssh, ...secretRef('host-keys') }, 'the Secret has no key identity'] },
    HostKeyMismatch: { 'host-key': [{ ...ssh, ...secretRef('other-host') }, 'does not match known_hosts'] },
    ConnectionRefused: { refused: [{ ...http, url: `http://${closed}/a.git` }, `${closed} refuses the connection`] },
    TimedOut: { silent: [{ ...http, url: `http://${silent}/a.git`, timeout: '2s' }, 'did not respond in time'] },
    NoGitServer: { page: [{ ...http, url: `${web}/200` }, 'does not respond like a Git server'] },
  });
}

function ociRepositories({ registry, closed }: Servers): FailingObject[] {
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), url: `oci://${registry}/fleet`, ref: { tag: 'v1' } };
  const { certSecretRef: _, ...untrusting } = all;
  const { secretRef: __, ...anonymous } = all;
  return failing('OCIRepository', {
    ready: { good: [all] },
    RevisionNotFound: { tag: [{ ...all, ref: { tag: 'v9' } }, 'the registry has no such artifact'] },
    AuthenticationFailed: {
      anonymous: [anonymous, 'put .dockerconfigjson with pull access into a new Secret'],
      password: [{ ...all, ...secretRef('wrong-registry') }, 'the original of Secret flux-system/wrong-registry'],
    },
    CredentialsMissing: {
      'no-secret': [{ ...all, ...secretRef('none') }, 'create the original of Secret flux-system/none'],
      'no-authority': [{ ...all, certSecretRef: { name: 'none' } }, 'correct the reference in objects[1].spec'],
    },
    CertificateNotTrusted: {
      authority: [untrusting, 'a new Secret that you reference as objects[1].spec.certSecretRef'],
    },
    ConnectionRefused: { refused: [{ ...all, url: `oci://${closed}/fleet` }, 'refuses the connection'] },
    VerificationFailed: {
      unsigned: [
        { ...all, verify: { provider: 'cosign', ...secretRef('cosign') } },
        'correct verify in objects[1].spec',
      ],
    },
  });
}

function helmRepositories({ registry, web, closed, front }: Servers): FailingObject[] {
  const charts = { ...HOUR, url: `${web}/charts` };
  const oci = { ...HOUR, ...TRUSTED, type: 'oci', url: `oci://${registry}/charts` };
  return failing('HelmRepository', {
    ready: {
      charts: [charts],
      oci: [{ ...oci, ...secretRef('registry') }],
      'oci-anonymous': [oci],
      'oci-password': [{ ...oci, ...secretRef('wrong-registry') }],
      'oci-secret': [{ ...oci, ...secretRef('none') }],
    },
    RepositoryNotFound: { 'not-found': [{ ...HOUR, url: `${web}/404` }, 'there is no repository of charts at'] },
    AuthenticationFailed: { denied: [{ ...HOUR, url: `${web}/401` }, 'does not allow Flux to read the charts'] },
    ArtifactUnusable: { page: [{ ...HOUR, url: `${web}/200` }, 'does not respond like a repository of charts'] },
    ConnectionRefused: { refused: [{ ...HOUR, url: `http://${closed}` }, 'refuses the connection'] },
    CertificateNotTrusted: { authority: [{ ...HOUR, url: `https://${front}` }, 'objects[1].spec.certSecretRef'] },
    CredentialsMissing: {
      'no-secret': [{ ...charts, ...secretRef('none') }, 'Secret flux-system/none does not exist'],
    },
    CredentialsIncomplete: { 'no-username': [{ ...charts, ...secretRef('only-password') }, 'has no key username'] },
    UrlInvalid: { scheme: [{ ...HOUR, url: `oci://${registry}/charts` }, 'set type to oci in objects[1].spec'] },
  });
}

function buckets({ web, closed, front }: Servers): FailingObject[] {
  const host = web.replace('http://', '');
  const all = { ...HOUR, insecure: true, endpoint: host, bucketName: '404', ...secretRef('bucket') };
  const tls = { ...all, insecure: false, endpoint: front, bucketName: 'fleet' };
  return failing('Bucket', {
    ConnectionRefused: { refused: [{ ...all, endpoint: closed }, 'refuses the connection'] },
    CredentialsIncomplete: {
      'no-key': [{ ...all, ...secretRef('authority') }, "the Secret lacks 'accesskey' and 'secretkey'"],
    },
    RepositoryNotFound: { 'not-found': [all, 'bucket 404 does not exist'] },
    AuthenticationFailed: { denied: [{ ...all, bucketName: '403' }, 'put accesskey and secretkey with read access'] },
    ProtocolMismatch: { http: [{ ...all, insecure: false }, 'or set insecure in objects[1].spec'] },
    CertificateNotTrusted: { authority: [tls, 'objects[1].spec.certSecretRef'] },
    CredentialsMissing: { 'no-authority': [{ ...tls, certSecretRef: { name: 'none' } }, 'Secret none does not exist'] },
  });
}
