/** Kustomizations that kustomize-controller cannot apply, each from a separate folder of one repository. */
export interface FluxFailure {
  /** Name of the Kustomization and of its folder. */
  name: string;
  reason: string;
  /** A fragment of the sentence in the condition. */
  explanation: string;
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

export const fluxFailures: FluxFailure[] = [
  {
    name: 'no-source',
    reason: 'SourceMissing',
    explanation: 'the source GitRepository other does not exist in the shoot',
  },
  { name: 'no-folder', reason: 'PathNotFound', explanation: 'the source has no folder no-folder' },
  {
    name: 'waiting',
    reason: 'DependencyNotReady',
    explanation: 'it is waiting for Kustomization flux-system/no-folder, which is not ready',
    spec: { dependsOn: [{ name: 'no-folder' }] },
    files: { 'a.yaml': configMap('waiting') },
  },
  {
    name: 'no-dependency',
    reason: 'DependencyNotReady',
    explanation: 'it is waiting for Kustomization flux-system/missing, which does not exist',
    spec: { dependsOn: [{ name: 'missing' }] },
    files: { 'a.yaml': configMap('no-dependency') },
  },
  {
    name: 'bad-expression',
    reason: 'ExpressionInvalid',
    explanation: 'correct readyExpr of dependsOn',
    spec: { dependsOn: [{ name: 'no-folder', readyExpr: 'dep.(' }] },
    files: { 'a.yaml': configMap('bad-expression') },
  },
  {
    name: 'no-sops-key',
    reason: 'DecryptionKeyMissing',
    explanation: 'Secret sops-age with the decryption keys does not exist in the shoot',
    spec: { decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } },
    files: { 'a.yaml': encrypted },
  },
  {
    name: 'no-decryption',
    reason: 'DecryptionNotConfigured',
    explanation: 'Secret/default/encrypted is encrypted with SOPS',
    files: { 'a.yaml': encrypted },
  },
  {
    name: 'no-variables',
    reason: 'SubstitutionFailed',
    explanation: 'ConfigMap nothing with the variables does not exist in the namespace of the Kustomization',
    spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'nothing' }] } },
    files: { 'a.yaml': configMap('no-variables') },
  },
  {
    name: 'no-variable',
    reason: 'SubstitutionFailed',
    explanation: 'cannot be substituted',
    spec: { postBuild: { substitute: { a: 'b' } } },
    files: { 'a.yaml': configMap('no-variable', { data: { key: `\${c}` } }) },
  },
  {
    name: 'no-kubeconfig',
    reason: 'KubeConfigUnusable',
    explanation: 'the kubeconfig in Secret flux-system/remote cannot be used',
    spec: { kubeConfig: { secretRef: { name: 'remote' } } },
    files: { 'a.yaml': configMap('no-kubeconfig') },
  },
  {
    name: 'no-file',
    reason: 'BuildFailed',
    explanation: 'kustomization.yaml refers to missing.yaml, which cannot be read',
    files: { 'kustomization.yaml': { resources: ['missing.yaml'] } },
  },
  {
    name: 'twice',
    reason: 'BuildFailed',
    explanation: 'is defined twice',
    files: {
      'kustomization.yaml': { resources: ['a.yaml', 'b.yaml'] },
      ...{ 'a.yaml': configMap('twice'), 'b.yaml': configMap('twice') },
    },
  },
  {
    name: 'no-target',
    reason: 'BuildFailed',
    explanation: 'a patch or replacement targets',
    files: {
      'kustomization.yaml': { resources: ['a.yaml'], patches: [{ path: 'b.yaml' }] },
      ...{ 'a.yaml': configMap('no-target'), 'b.yaml': configMap('another') },
    },
  },
  {
    name: 'no-yaml',
    reason: 'BuildFailed',
    explanation: 'a.yaml does not contain Kubernetes objects',
    files: { 'a.yaml': 'a: b: c' },
  },
  {
    name: 'unnamed',
    reason: 'BuildFailed',
    explanation: 'does not contain Kubernetes objects in YAML',
    files: { 'a.yaml': { apiVersion: 'v1', kind: 'Secret', data: { pin: 's3cr3t' } } },
  },
  {
    name: 'no-kustomization',
    reason: 'BuildFailed',
    explanation: 'the kustomization.yaml in ./no-kustomization is not valid YAML at line 1',
    files: { 'kustomization.yaml': 'resources: [a.yaml\n', 'a.yaml': configMap('no-kustomization') },
  },
  {
    name: 'no-component',
    reason: 'BuildFailed',
    explanation: 'component nowhere does not exist in the source',
    spec: { components: ['../nowhere'] },
    files: { 'a.yaml': configMap('no-component') },
  },
  {
    name: 'no-patch',
    reason: 'BuildFailed',
    explanation: 'a patch cannot be parsed',
    spec: { patches: [{ patch: 'a: [' }] },
    files: { 'a.yaml': configMap('no-patch') },
  },
  {
    name: 'unknown-kind',
    reason: 'KindUnknown',
    explanation: 'the shoot has no kind Unknown in example.com/v1',
    files: { 'a.yaml': { ...configMap('unknown-kind'), apiVersion: 'example.com/v1', kind: 'Unknown' } },
  },
  {
    name: 'no-namespace',
    reason: 'NamespaceMissing',
    explanation: 'namespace nowhere does not exist',
    files: { 'a.yaml': configMap('no-namespace', { metadata: { name: 'a', namespace: 'nowhere' } }) },
  },
  {
    name: 'bad-label',
    reason: 'ApplyFailed',
    explanation: 'the API server rejects metadata.labels of ConfigMap/default/bad-label',
    files: {
      'a.yaml': configMap('bad', { metadata: { name: 'bad-label', namespace: 'default', labels: { a: 'b c' } } }),
    },
  },
  {
    name: 'bad-secret',
    reason: 'ApplyFailed',
    explanation: 'of Secret/default/bad-secret; correct it',
    files: {
      'a.yaml': {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bad-secret', namespace: 'default' } },
        stringData: { pin: { s3cr3t: 's3cr3t' } },
      },
    },
  },
  {
    name: 'no-rights',
    reason: 'NotAllowed',
    explanation: 'ServiceAccount flux-system/unprivileged is not allowed to',
    spec: { serviceAccountName: 'unprivileged' },
    files: { 'a.yaml': configMap('no-rights') },
  },
  {
    name: 'unhealthy',
    reason: 'HealthCheckFailed',
    explanation: 'ConfigMap/default/absent does not become ready',
    spec: {
      // kustomize-controller waits for at least 30 s.
      timeout: '30s',
      healthChecks: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', namespace: 'default' }],
    },
    files: { 'a.yaml': configMap('unhealthy') },
  },
];
