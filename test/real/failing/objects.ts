import type { Servers } from './servers.ts';

/** An object that its real controller cannot make Ready, and the reason that the condition gives. */
export interface FailingObject {
  kind: string;
  name: string;
  spec: object;
  reason: string;
}

/** All of them; those that are `ready` only serve others. The examples of `explain` have the sentences. */
export function failingObjects(servers: Servers): FailingObject[] {
  return [
    ...failing('GitRepository', gitRepositories(servers)),
    ...failing('OCIRepository', ociRepositories(servers)),
    ...failing('HelmRepository', helmRepositories(servers)),
    ...failing('Bucket', buckets(servers)),
    ...failing('HelmChart', charts),
    ...failing('HelmRelease', releases),
    ...failing('ImageRepository', imageRepositories(servers)),
    ...failing('ImagePolicy', imagePolicies),
    ...failing('Receiver', receivers),
    ...failing('Kustomization', kustomizations),
    ...Object.entries(folders).flatMap(([reason, named]) =>
      Object.entries(named).map(([name, { spec }]) => {
        return { kind: 'Kustomization', name, reason, spec: { ...kustomized, path: `./${name}`, ...spec } };
      }),
    ),
  ];
}

/** Specs by reason and name. */
type Reasons = Record<string, Record<string, object>>;

const failing = (kind: string, reasons: Reasons): FailingObject[] =>
  Object.entries(reasons).flatMap(([reason, specs]) =>
    Object.entries(specs).map(([name, spec]) => ({ kind, name, spec, reason })),
  );

const HOUR = { interval: '1h' };
/** Names the Secret with the certificate of the authority of the registry. */
const TRUSTED = { certSecretRef: { name: 'authority' } };
const secretRef = (name: string) => ({ secretRef: { name } });
const verify = { verify: { provider: 'cosign', ...secretRef('cosign') } };

function gitRepositories({ git, front, web, closed, silent }: Servers): Reasons {
  const http = { ...HOUR, ref: { branch: 'main' }, url: git.httpUrl };
  const ssh = { ...http, url: git.sshUrl };
  const tls = { ...http, url: `https://${front}/fleet.git` };
  return {
    ready: { good: http },
    RevisionNotFound: {
      branch: { ...http, ref: { branch: 'none' } },
      // The controller asks for refs/heads/refs/heads/main.
      'full-ref': { ...http, ref: { branch: 'refs/heads/main' } },
    },
    RevisionInvalid: { range: { ...http, ref: { semver: '>>9' } } },
    CertificateNotTrusted: { authority: tls },
    AuthenticationFailed: {
      password: { ...tls, ...secretRef('login') },
      'deploy-key': { ...ssh, ...secretRef('deploy-key') },
      'allow-list': { ...http, url: `${web}/403/allow-list`, ...secretRef('login') },
      'single-sign-on': { ...http, url: `${web}/403/single-sign-on`, ...secretRef('login') },
    },
    CredentialsMissing: {
      'no-secret': { ...ssh, ...secretRef('none') },
      verify: { ...http, verify: { mode: 'HEAD', ...secretRef('none') } },
    },
    CredentialsIncomplete: { 'no-identity': { ...ssh, ...secretRef('host-keys') } },
    CredentialsUnusable: { passphrase: { ...ssh, ...secretRef('locked-key') } },
    ProxyFailed: { proxy: { ...http, proxySecretRef: { name: 'proxy' } } },
    HostKeyMismatch: { 'host-key': { ...ssh, ...secretRef('other-host') } },
    ConnectionRefused: { refused: { ...http, url: `http://${closed}/a.git` } },
    TimedOut: { silent: { ...http, url: `http://${silent}/a.git`, timeout: '2s' } },
    NoGitServer: { page: { ...http, url: `${web}/200` }, query: { ...http, url: `${git.httpUrl}?ref=main` } },
  };
}

function ociRepositories({ registry, closed }: Servers): Reasons {
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), url: `oci://${registry}/fleet`, ref: { tag: 'v1' } };
  return {
    ready: { good: all },
    RevisionNotFound: { tag: { ...all, ref: { tag: 'v9' } } },
    AuthenticationFailed: {
      anonymous: { ...all, secretRef: undefined },
      password: { ...all, ...secretRef('wrong-registry') },
    },
    CredentialsMissing: {
      'no-secret': { ...all, ...secretRef('none') },
      'no-authority': { ...all, certSecretRef: { name: 'none' } },
    },
    CertificateNotTrusted: { authority: { ...all, certSecretRef: undefined } },
    ConnectionRefused: { refused: { ...all, url: `oci://${closed}/fleet` } },
    VerificationFailed: { unsigned: { ...all, ...verify } },
  };
}

function helmRepositories({ registry, web, closed, front }: Servers): Reasons {
  const charts = { ...HOUR, url: `${web}/charts` };
  const oci = { ...HOUR, ...TRUSTED, type: 'oci', url: `oci://${registry}/charts` };
  return {
    ready: {
      charts,
      elsewhere: { ...HOUR, url: `${web}/elsewhere` },
      oci: { ...oci, ...secretRef('registry') },
      'oci-anonymous': oci,
      'oci-password': { ...oci, ...secretRef('wrong-registry') },
      'oci-secret': { ...oci, ...secretRef('none') },
    },
    RepositoryNotFound: { 'not-found': { ...HOUR, url: `${web}/404` } },
    AuthenticationFailed: { denied: { ...HOUR, url: `${web}/401` } },
    ArtifactUnusable: { page: { ...HOUR, url: `${web}/200` } },
    ConnectionRefused: { refused: { ...HOUR, url: `http://${closed}` } },
    CertificateNotTrusted: { authority: { ...HOUR, url: `https://${front}` } },
    CredentialsMissing: { 'no-secret': { ...charts, ...secretRef('none') } },
    CredentialsIncomplete: { 'no-username': { ...charts, ...secretRef('only-password') } },
    UrlInvalid: { scheme: { ...HOUR, url: `oci://${registry}/charts` } },
  };
}

function buckets({ web, closed, front }: Servers): Reasons {
  const host = web.replace('http://', '');
  const all = { ...HOUR, insecure: true, endpoint: host, bucketName: '404', ...secretRef('bucket') };
  const tls = { ...all, insecure: false, endpoint: front, bucketName: 'fleet' };
  return {
    ConnectionRefused: { refused: { ...all, endpoint: closed } },
    CredentialsIncomplete: { 'no-key': { ...all, ...secretRef('authority') } },
    RepositoryNotFound: { 'not-found': all },
    AuthenticationFailed: { denied: { ...all, bucketName: '403' } },
    ProtocolMismatch: { http: { ...all, insecure: false } },
    CertificateNotTrusted: { authority: tls },
    CredentialsMissing: { 'no-authority': { ...tls, certSecretRef: { name: 'none' } } },
  };
}

const from = (kind: string, name: string) => ({ sourceRef: { kind, name } });
const app = { ...HOUR, chart: 'app', version: '1.x' };
const http = { ...app, ...from('HelmRepository', 'charts') };
const oci = { ...app, ...from('HelmRepository', 'oci') };
const charts: Reasons = {
  ChartNotFound: {
    version: { ...http, version: '9.*' },
    unknown: { ...http, chart: 'nothing' },
    'oci-version': { ...oci, version: '9.x' },
    'oci-exact': { ...oci, version: '9.0.0' },
    'oci-unknown': { ...oci, chart: 'nothing' },
  },
  RevisionInvalid: { range: { ...http, version: '>>9' } },
  ArtifactUnusable: { elsewhere: { ...app, ...from('HelmRepository', 'elsewhere') } },
  SourceMissing: { 'no-source': { ...app, ...from('HelmRepository', 'none') } },
  SourceNotReady: { waits: { ...app, ...from('HelmRepository', 'refused') } },
  AuthenticationFailed: {
    anonymous: { ...app, ...from('HelmRepository', 'oci-anonymous') },
    password: { ...app, ...from('HelmRepository', 'oci-password') },
  },
  CredentialsMissing: { 'no-secret': { ...app, ...from('HelmRepository', 'oci-secret') } },
  PathNotFound: {
    folder: { ...HOUR, ...from('GitRepository', 'good'), chart: './nowhere' },
    'no-chart': { ...HOUR, ...from('GitRepository', 'good'), chart: './plain' },
  },
  ValuesMissing: { values: { ...http, valuesFiles: ['none.yaml'] } },
  VerificationFailed: { unsigned: { ...oci, ...verify } },
};

const place = { ...HOUR, targetNamespace: 'default', storageNamespace: 'flux-system' };
const chartOf = (version: string, repository: string) => ({
  ...{ ...place, chart: { spec: { ...HOUR, chart: 'app', version, ...from('HelmRepository', repository) } } },
});
const release = chartOf('1.x', 'charts');
const chartRef = (kind: string, name: string) => ({ ...place, chartRef: { kind, name } });
const valuesFrom = (name: string) => ({ ...release, valuesFrom: [{ kind: 'Secret', name }] });
const values = (mode: string, more: object = {}) => ({ ...release, values: { mode, ...more } });
const patches = [{ target: { kind: 'ConfigMap' }, patch: 'a: [' }];
const releases: Reasons = {
  ValuesMissing: { 'no-values': valuesFrom('none'), 'no-key': valuesFrom('authority') },
  ValuesInvalid: { 'bad-values': valuesFrom('bad-values') },
  ChartNotFound: { version: chartOf('9.x', 'charts') },
  SourceMissing: { 'no-repository': chartOf('1.x', 'none'), 'no-chart': chartRef('OCIRepository', 'none') },
  SourceNotReady: { 'chart-waits': chartRef('OCIRepository', 'tag') },
  ArtifactUnusable: { 'no-chart-at-all': chartRef('OCIRepository', 'good') },
  DependencyNotReady: {
    depends: { ...release, dependsOn: [{ name: 'none' }] },
    waits: { ...release, dependsOn: [{ name: 'template' }] },
  },
  ExpressionInvalid: { expression: { ...release, dependsOn: [{ name: 'template', readyExpr: 'dep.(' }] } },
  KubeConfigUnusable: { kubeconfig: { ...release, kubeConfig: secretRef('none') } },
  NotAllowed: { account: { ...release, serviceAccountName: 'none' } },
  ReleaseFailed: {
    template: values('template'),
    required: values('required'),
    schema: values('good', { replicas: 'many' }),
    yaml: values('yaml'),
    rejected: values('rejected'),
    timeout: { ...values('volume'), timeout: '2s' },
    post: { ...values('good'), postRenderers: [{ kustomize: { patches } }] },
  },
  KindUnknown: { kind: values('kind') },
  NamespaceMissing: { namespace: { ...values('good'), targetNamespace: 'nowhere' } },
};

function imageRepositories({ registry, closed }: Servers): Reasons {
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), image: `${registry}/fleet` };
  const anonymous = { ...all, secretRef: undefined };
  return {
    ready: { good: all },
    AuthenticationFailed: { anonymous, password: { ...all, ...secretRef('wrong-registry') } },
    CredentialsMissing: {
      'no-secret': { ...all, ...secretRef('none') },
      'no-authority': { ...all, certSecretRef: { name: 'none' } },
    },
    CertificateNotTrusted: { authority: { ...all, certSecretRef: undefined } },
    RepositoryNotFound: { unknown: { ...all, image: `${registry}/nothing` } },
    UrlInvalid: {
      letters: { ...all, image: `${registry}/Fleet` },
      tagged: { ...all, image: `${registry}/fleet:v1` },
    },
    ConnectionRefused: { refused: { ...all, image: `${closed}/fleet` } },
    ServiceAccountMissing: { account: { ...anonymous, serviceAccountName: 'none' } },
  };
}

const imageOf = (name: string, policy: object) => ({ imageRepositoryRef: { name }, policy });
const semver = (range: string) => ({ semver: { range } });
const imagePolicies: Reasons = {
  SourceMissing: { 'no-repository': imageOf('none', semver('1.x')) },
  SourceNotReady: { waits: imageOf('anonymous', semver('1.x')) },
  RevisionNotFound: { 'no-tag': imageOf('good', semver('9.x')) },
  RevisionInvalid: {
    range: imageOf('good', semver('>>9')),
    pattern: { ...imageOf('good', semver('1.x')), filterTags: { pattern: '(' } },
    number: imageOf('good', { numerical: {} }),
    choice: imageOf('good', {}),
  },
};

const receiver = { type: 'generic', resources: [{ kind: 'GitRepository', name: 'good' }] };
const receivers: Reasons = {
  CredentialsMissing: { 'no-secret': { ...receiver, ...secretRef('none') } },
  CredentialsIncomplete: { 'no-token': { ...receiver, ...secretRef('authority') } },
  ExpressionInvalid: { filter: { ...receiver, ...secretRef('token'), resourceFilter: 'res.(' } },
};

const kustomized = { ...HOUR, retryInterval: '5s', prune: false, path: './', ...from('GitRepository', 'good') };
const decrypted = (path: string, key: string) => ({
  ...{ ...kustomized, path, decryption: { provider: 'sops', ...secretRef(key) } },
});
const kustomizations: Reasons = {
  DecryptionFailed: { 'other-key': decrypted('./age', 'other-age'), passphrase: decrypted('./pgp', 'pgp') },
  DecryptionKeyMissing: { 'no-key': decrypted('./age', 'no-age') },
  SourceNotReady: {
    waits: { ...kustomized, ...from('GitRepository', 'branch') },
    'waits-for-oci': { ...kustomized, ...from('OCIRepository', 'tag') },
  },
  SourceMissing: { 'no-source': { ...kustomized, ...from('GitRepository', 'other') } },
  PathNotFound: { 'no-folder': { ...kustomized, path: './no-folder' } },
};

/** A Kustomization of a folder of its own. */
interface Folder {
  /** Default: `a.yaml` with a ConfigMap. */
  files?: Record<string, unknown>;
  spec?: object;
}

const configMap = (name: string, parts: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, ...parts },
});
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const encrypted = {
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'encrypted', namespace: 'default' } },
  data: { key: 'ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]' },
  sops: { mac: 'ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]', version: '3.9.0' },
};
const labels = { a: 'b c' };
const healthChecks = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', namespace: 'default' }];

/** By reason and name. */
const folders: Record<string, Record<string, Folder>> = {
  DependencyNotReady: {
    waiting: { spec: { dependsOn: [{ name: 'no-folder' }] } },
    'no-dependency': { spec: { dependsOn: [{ name: 'missing' }] } },
  },
  ExpressionInvalid: { 'bad-expression': { spec: { dependsOn: [{ name: 'no-folder', readyExpr: 'dep.(' }] } } },
  DecryptionKeyMissing: {
    'no-sops-key': { spec: decrypted('./no-sops-key', 'sops-age'), files: { 'a.yaml': encrypted } },
  },
  DecryptionNotConfigured: { 'no-decryption': { files: { 'a.yaml': encrypted } } },
  SubstitutionFailed: {
    'no-variables': { spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'nothing' }] } } },
    'no-variable': {
      spec: { postBuild: { substitute: { a: 'b' } } },
      files: { 'a.yaml': configMap('no-variable', { data: { key: `\${c}` } }) },
    },
  },
  KubeConfigUnusable: { 'no-kubeconfig': { spec: { kubeConfig: secretRef('remote') } } },
  BuildFailed: {
    'no-file': { files: { 'kustomization.yaml': { resources: ['missing.yaml'] } } },
    twice: {
      files: {
        'kustomization.yaml': { resources: ['a.yaml', 'b.yaml'] },
        ...{ 'a.yaml': configMap('twice'), 'b.yaml': configMap('twice') },
      },
    },
    'no-target': {
      files: {
        'kustomization.yaml': { resources: ['a.yaml'], patches: [{ path: 'b.yaml' }] },
        ...{ 'a.yaml': configMap('no-target'), 'b.yaml': configMap('another') },
      },
    },
    'no-yaml': { files: { 'a.yaml': 'a: b: c' } },
    unnamed: { files: { 'a.yaml': { apiVersion: 'v1', kind: 'Secret', data: { pin: 's3cr3t' } } } },
    'no-kustomization': {
      files: { 'kustomization.yaml': 'resources: [a.yaml\n', 'a.yaml': configMap('no-kustomization') },
    },
    // A targetNamespace renames both.
    namespaces: {
      spec: { targetNamespace: 'default' },
      files: { 'a.yaml': namespace('one'), 'b.yaml': namespace('two') },
    },
    'no-component': { spec: { components: ['../nowhere'] } },
    'no-patch': { spec: { patches: [{ patch: 'a: [' }] } },
  },
  KindUnknown: {
    'unknown-kind': {
      files: { 'a.yaml': { ...configMap('unknown-kind'), apiVersion: 'example.com/v1', kind: 'Unknown' } },
    },
  },
  NamespaceMissing: {
    'no-namespace': { files: { 'a.yaml': configMap('', { metadata: { name: 'a', namespace: 'nowhere' } }) } },
  },
  ApplyFailed: {
    'bad-label': {
      files: { 'a.yaml': configMap('', { metadata: { name: 'bad-label', namespace: 'default', labels } }) },
    },
    'bad-secret': {
      files: { 'a.yaml': configMap('bad-secret', { kind: 'Secret', stringData: { pin: { s3cr3t: 's3cr3t' } } }) },
    },
  },
  NotAllowed: { 'no-rights': { spec: { serviceAccountName: 'unprivileged' } } },
  // kustomize-controller waits for at least 30 s.
  HealthCheckFailed: { unhealthy: { spec: { timeout: '30s', healthChecks } } },
};

/** The files of a repository with these folders. */
export function failingFolders(): Record<string, string> {
  const named = Object.values(folders).flatMap((each) => Object.entries(each));
  const texts = named.flatMap(([name, { files = { 'a.yaml': configMap(name) } }]) =>
    Object.entries(files).map(([path, file]) => [
      `${name}/${path}`,
      typeof file === 'string' ? file : JSON.stringify(file),
    ]),
  );
  return Object.fromEntries(texts);
}
