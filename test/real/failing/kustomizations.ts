import { type FailingObject, failing, HOUR, secretRef } from './object.ts';

const all = { ...HOUR, retryInterval: '5s', prune: false, sourceRef: { kind: 'GitRepository', name: 'good' } };

/** Kustomizations that kustomize-controller cannot apply: of other sources, and each folder of `failingFolders`. */
export function failingKustomizations(): FailingObject[] {
  const decrypted = (path: string, key: string) => ({
    ...{ ...all, path, decryption: { provider: 'sops', ...secretRef(key) } },
  });
  const from = (kind: string, name: string) => ({ ...all, path: './', sourceRef: { kind, name } });
  const others = failing('Kustomization', {
    DecryptionFailed: {
      'other-key': [decrypted('./age', 'other-age'), 'the original of Secret flux-system/other-age'],
      passphrase: [decrypted('./pgp', 'pgp'), 'in .asc for a PGP key without a passphrase'],
    },
    DecryptionKeyMissing: { 'no-key': [decrypted('./age', 'no-age'), 'is not a usable decryption key'] },
    SourceNotReady: {
      waits: [from('GitRepository', 'branch'), 'check GitRepository branch'],
      'waits-for-oci': [from('OCIRepository', 'tag'), 'check OCIRepository tag'],
    },
    SourceMissing: {
      'no-source': [from('GitRepository', 'other'), 'the source GitRepository other does not exist in the shoot'],
    },
    PathNotFound: { 'no-folder': [{ ...all, path: './no-folder' }, 'the source has no folder no-folder'] },
  });
  const ofFolders = Object.entries(folders).flatMap(([reason, named]) =>
    Object.entries(named).flatMap(([name, { says, spec }]) =>
      failing('Kustomization', { [reason]: { [name]: [{ ...all, path: `./${name}`, ...spec }, says] } }),
    ),
  );
  return [...others, ...ofFolders];
}

/** The files of a repository with a folder for each failure. */
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

interface Folder {
  /** A fragment of the sentence in the condition. */
  says: string;
  /** Default: `a.yaml` with a ConfigMap. */
  files?: Record<string, unknown>;
  spec?: object;
}

const configMap = (name: string, parts: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  ...parts,
});
const encrypted = {
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'encrypted', namespace: 'default' } },
  data: { key: 'ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]' },
  sops: { mac: 'ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]', version: '3.9.0' },
};

/** By the reason of the condition, and by name. */
const folders: Record<string, Record<string, Folder>> = {
  DependencyNotReady: {
    waiting: {
      says: 'it is waiting for Kustomization flux-system/no-folder, which is not ready',
      spec: { dependsOn: [{ name: 'no-folder' }] },
    },
    'no-dependency': {
      says: 'it is waiting for Kustomization flux-system/missing, which does not exist',
      spec: { dependsOn: [{ name: 'missing' }] },
    },
  },
  ExpressionInvalid: {
    'bad-expression': {
      says: 'correct readyExpr of dependsOn',
      spec: { dependsOn: [{ name: 'no-folder', readyExpr: 'dep.(' }] },
    },
  },
  DecryptionKeyMissing: {
    'no-sops-key': {
      says: 'Secret sops-age with the decryption keys does not exist in the shoot',
      spec: { decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } },
      files: { 'a.yaml': encrypted },
    },
  },
  DecryptionNotConfigured: {
    'no-decryption': { says: 'Secret/default/encrypted is encrypted with SOPS', files: { 'a.yaml': encrypted } },
  },
  SubstitutionFailed: {
    'no-variables': {
      says: 'ConfigMap nothing with the variables does not exist in the namespace of the Kustomization',
      spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'nothing' }] } },
    },
    'no-variable': {
      says: 'cannot be substituted',
      spec: { postBuild: { substitute: { a: 'b' } } },
      files: { 'a.yaml': configMap('no-variable', { data: { key: `\${c}` } }) },
    },
  },
  KubeConfigUnusable: {
    'no-kubeconfig': {
      says: 'the kubeconfig in Secret flux-system/remote cannot be used',
      spec: { kubeConfig: { secretRef: { name: 'remote' } } },
    },
  },
  BuildFailed: {
    'no-file': {
      says: 'kustomization.yaml refers to missing.yaml, which cannot be read',
      files: { 'kustomization.yaml': { resources: ['missing.yaml'] } },
    },
    twice: {
      says: 'is defined twice',
      files: {
        'kustomization.yaml': { resources: ['a.yaml', 'b.yaml'] },
        ...{ 'a.yaml': configMap('twice'), 'b.yaml': configMap('twice') },
      },
    },
    'no-target': {
      says: 'a patch or replacement targets',
      files: {
        'kustomization.yaml': { resources: ['a.yaml'], patches: [{ path: 'b.yaml' }] },
        ...{ 'a.yaml': configMap('no-target'), 'b.yaml': configMap('another') },
      },
    },
    'no-yaml': { says: 'a.yaml does not contain Kubernetes objects', files: { 'a.yaml': 'a: b: c' } },
    unnamed: {
      says: 'does not contain Kubernetes objects in YAML',
      files: { 'a.yaml': { apiVersion: 'v1', kind: 'Secret', data: { pin: 's3cr3t' } } },
    },
    'no-kustomization': {
      says: 'the kustomization.yaml in ./no-kustomization is not valid YAML at line 1',
      files: { 'kustomization.yaml': 'resources: [a.yaml\n', 'a.yaml': configMap('no-kustomization') },
    },
    'no-component': { says: 'component nowhere does not exist in the source', spec: { components: ['../nowhere'] } },
    'no-patch': { says: 'a patch cannot be parsed', spec: { patches: [{ patch: 'a: [' }] } },
  },
  KindUnknown: {
    'unknown-kind': {
      says: 'the shoot has no kind Unknown in example.com/v1',
      files: { 'a.yaml': { ...configMap('unknown-kind'), apiVersion: 'example.com/v1', kind: 'Unknown' } },
    },
  },
  NamespaceMissing: {
    'no-namespace': {
      says: 'namespace nowhere does not exist',
      files: { 'a.yaml': configMap('no-namespace', { metadata: { name: 'a', namespace: 'nowhere' } }) },
    },
  },
  ApplyFailed: {
    'bad-label': {
      says: 'the API server rejects metadata.labels of ConfigMap/default/bad-label',
      files: {
        'a.yaml': configMap('bad', { metadata: { name: 'bad-label', namespace: 'default', labels: { a: 'b c' } } }),
      },
    },
    'bad-secret': {
      says: 'of Secret/default/bad-secret; correct it',
      files: { 'a.yaml': { ...configMap('bad-secret'), kind: 'Secret', stringData: { pin: { s3cr3t: 's3cr3t' } } } },
    },
  },
  NotAllowed: {
    'no-rights': {
      says: 'ServiceAccount flux-system/unprivileged is not allowed to',
      spec: { serviceAccountName: 'unprivileged' },
    },
  },
  HealthCheckFailed: {
    unhealthy: {
      says: 'ConfigMap/default/absent does not become ready',
      spec: {
        // kustomize-controller waits for at least 30 s.
        timeout: '30s',
        healthChecks: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', namespace: 'default' }],
      },
    },
  },
};
