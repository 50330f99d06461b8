import { type FailingObject, failing, HOUR, secretRef } from './object.ts';

const all = { ...HOUR, retryInterval: '5s', prune: false, sourceRef: { kind: 'GitRepository', name: 'good' } };

/** Kustomizations that kustomize-controller cannot apply: of other sources, and each folder of `failingFolders`. */
export function failingKustomizations(): FailingObject[] {
  const decrypted = (path: string, key: string) => ({
    ...{ ...all, path, decryption: { provider: 'sops', ...secretRef(key) } },
  });
  const from = (kind: string, name: string) => ({ ...all, path: './', sourceRef: { kind, name } });
  const others = failing('Kustomization', {
    'other-key': [decrypted('./age', 'other-age'), 'DecryptionFailed', 'the original of Secret flux-system/other-age'],
    passphrase: [decrypted('./pgp', 'pgp'), 'DecryptionFailed', 'in .asc for a PGP key without a passphrase'],
    'no-key': [decrypted('./age', 'no-age'), 'DecryptionKeyMissing', 'is not a usable decryption key'],
    waits: [from('GitRepository', 'branch'), 'SourceNotReady', 'check GitRepository branch'],
    'waits-for-oci': [from('OCIRepository', 'tag'), 'SourceNotReady', 'check OCIRepository tag'],
    'no-source': [
      from('GitRepository', 'other'),
      'SourceMissing',
      'the source GitRepository other does not exist in the shoot',
    ],
    'no-folder': [{ ...all, path: './no-folder' }, 'PathNotFound', 'the source has no folder no-folder'],
  });
  const ofFolders = Object.entries(folders).map(([name, { spec, fails }]): [string, [object, string, string]] => [
    name,
    [{ ...all, path: `./${name}`, ...spec }, ...fails],
  ]);
  return [...others, ...failing('Kustomization', Object.fromEntries(ofFolders))];
}

/** The files of a repository with a folder for each failure. */
export function failingFolders(): Record<string, string> {
  const texts = Object.entries(folders).flatMap(([name, { files = { 'a.yaml': configMap(name) } }]) =>
    Object.entries(files).map(([path, file]) => [
      `${name}/${path}`,
      typeof file === 'string' ? file : JSON.stringify(file),
    ]),
  );
  return Object.fromEntries(texts);
}

interface Folder {
  /** Reason of the condition, and a fragment of its sentence. */
  fails: [reason: string, explanation: string];
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

const folders: Record<string, Folder> = {
  waiting: {
    fails: ['DependencyNotReady', 'it is waiting for Kustomization flux-system/no-folder, which is not ready'],
    spec: { dependsOn: [{ name: 'no-folder' }] },
  },
  'no-dependency': {
    fails: ['DependencyNotReady', 'it is waiting for Kustomization flux-system/missing, which does not exist'],
    spec: { dependsOn: [{ name: 'missing' }] },
  },
  'bad-expression': {
    fails: ['ExpressionInvalid', 'correct readyExpr of dependsOn'],
    spec: { dependsOn: [{ name: 'no-folder', readyExpr: 'dep.(' }] },
  },
  'no-sops-key': {
    fails: ['DecryptionKeyMissing', 'Secret sops-age with the decryption keys does not exist in the shoot'],
    spec: { decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } },
    files: { 'a.yaml': encrypted },
  },
  'no-decryption': {
    fails: ['DecryptionNotConfigured', 'Secret/default/encrypted is encrypted with SOPS'],
    files: { 'a.yaml': encrypted },
  },
  'no-variables': {
    fails: [
      'SubstitutionFailed',
      'ConfigMap nothing with the variables does not exist in the namespace of the Kustomization',
    ],
    spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'nothing' }] } },
  },
  'no-variable': {
    fails: ['SubstitutionFailed', 'cannot be substituted'],
    spec: { postBuild: { substitute: { a: 'b' } } },
    files: { 'a.yaml': configMap('no-variable', { data: { key: `\${c}` } }) },
  },
  'no-kubeconfig': {
    fails: ['KubeConfigUnusable', 'the kubeconfig in Secret flux-system/remote cannot be used'],
    spec: { kubeConfig: { secretRef: { name: 'remote' } } },
  },
  'no-file': {
    fails: ['BuildFailed', 'kustomization.yaml refers to missing.yaml, which cannot be read'],
    files: { 'kustomization.yaml': { resources: ['missing.yaml'] } },
  },
  twice: {
    fails: ['BuildFailed', 'is defined twice'],
    files: {
      'kustomization.yaml': { resources: ['a.yaml', 'b.yaml'] },
      ...{ 'a.yaml': configMap('twice'), 'b.yaml': configMap('twice') },
    },
  },
  'no-target': {
    fails: ['BuildFailed', 'a patch or replacement targets'],
    files: {
      'kustomization.yaml': { resources: ['a.yaml'], patches: [{ path: 'b.yaml' }] },
      ...{ 'a.yaml': configMap('no-target'), 'b.yaml': configMap('another') },
    },
  },
  'no-yaml': {
    fails: ['BuildFailed', 'a.yaml does not contain Kubernetes objects'],
    files: { 'a.yaml': 'a: b: c' },
  },
  unnamed: {
    fails: ['BuildFailed', 'does not contain Kubernetes objects in YAML'],
    files: { 'a.yaml': { apiVersion: 'v1', kind: 'Secret', data: { pin: 's3cr3t' } } },
  },
  'no-kustomization': {
    fails: ['BuildFailed', 'the kustomization.yaml in ./no-kustomization is not valid YAML at line 1'],
    files: { 'kustomization.yaml': 'resources: [a.yaml\n', 'a.yaml': configMap('no-kustomization') },
  },
  'no-component': {
    fails: ['BuildFailed', 'component nowhere does not exist in the source'],
    spec: { components: ['../nowhere'] },
  },
  'no-patch': { fails: ['BuildFailed', 'a patch cannot be parsed'], spec: { patches: [{ patch: 'a: [' }] } },
  'unknown-kind': {
    fails: ['KindUnknown', 'the shoot has no kind Unknown in example.com/v1'],
    files: { 'a.yaml': { ...configMap('unknown-kind'), apiVersion: 'example.com/v1', kind: 'Unknown' } },
  },
  'no-namespace': {
    fails: ['NamespaceMissing', 'namespace nowhere does not exist'],
    files: { 'a.yaml': configMap('no-namespace', { metadata: { name: 'a', namespace: 'nowhere' } }) },
  },
  'bad-label': {
    fails: ['ApplyFailed', 'the API server rejects metadata.labels of ConfigMap/default/bad-label'],
    files: {
      'a.yaml': configMap('bad', { metadata: { name: 'bad-label', namespace: 'default', labels: { a: 'b c' } } }),
    },
  },
  'bad-secret': {
    fails: ['ApplyFailed', 'of Secret/default/bad-secret; correct it'],
    files: {
      'a.yaml': { ...configMap('bad-secret'), kind: 'Secret', stringData: { pin: { s3cr3t: 's3cr3t' } } },
    },
  },
  'no-rights': {
    fails: ['NotAllowed', 'ServiceAccount flux-system/unprivileged is not allowed to'],
    spec: { serviceAccountName: 'unprivileged' },
  },
  unhealthy: {
    fails: ['HealthCheckFailed', 'ConfigMap/default/absent does not become ready'],
    spec: {
      // kustomize-controller waits for at least 30 s.
      timeout: '30s',
      healthChecks: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', namespace: 'default' }],
    },
  },
};
