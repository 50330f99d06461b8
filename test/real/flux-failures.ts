/** Kustomizations that kustomize-controller cannot apply, each from a folder of its own in one repository. */
export interface FluxFailure {
  /** Of the Kustomization, and its folder. */
  name: string;
  reason: string;
  /** What the sentence has to name beside the Kustomization. */
  told: string;
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
  { name: 'no-source', reason: 'SourceMissing', told: 'its source GitRepository other is not in the shoot' },
  { name: 'no-folder', reason: 'PathNotFound', told: 'the source has no folder no-folder' },
  {
    name: 'waiting',
    reason: 'DependencyNotReady',
    told: 'it waits for Kustomization flux-system/no-folder, which is not ready',
    spec: { dependsOn: [{ name: 'no-folder' }] },
    files: { 'a.yaml': configMap('waiting') },
  },
  {
    name: 'no-dependency',
    reason: 'DependencyNotReady',
    told: 'it waits for Kustomization flux-system/nobody, which is not there',
    spec: { dependsOn: [{ name: 'nobody' }] },
    files: { 'a.yaml': configMap('no-dependency') },
  },
  {
    name: 'bad-expression',
    reason: 'ExpressionInvalid',
    told: 'correct readyExpr of dependsOn',
    spec: { dependsOn: [{ name: 'no-folder', readyExpr: 'dep.(' }] },
    files: { 'a.yaml': configMap('bad-expression') },
  },
  {
    name: 'no-sops-key',
    reason: 'DecryptionKeyMissing',
    told: 'Secret sops-age with the keys for decryption is not in the shoot',
    spec: { decryption: { provider: 'sops', secretRef: { name: 'sops-age' } } },
    files: { 'a.yaml': encrypted },
  },
  {
    name: 'no-decryption',
    reason: 'DecryptionNotConfigured',
    told: 'Secret/default/encrypted is encrypted with SOPS',
    files: { 'a.yaml': encrypted },
  },
  {
    name: 'no-variables',
    reason: 'SubstitutionFailed',
    told: 'ConfigMap nothing with variables is not in its namespace',
    spec: { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'nothing' }] } },
    files: { 'a.yaml': configMap('no-variables') },
  },
  {
    name: 'no-variable',
    reason: 'SubstitutionFailed',
    told: 'cannot be filled in',
    spec: { postBuild: { substitute: { a: 'b' } } },
    files: { 'a.yaml': configMap('no-variable', { data: { key: `\${c}` } }) },
  },
  {
    name: 'no-kubeconfig',
    reason: 'KubeConfigUnusable',
    told: 'the kubeconfig in Secret flux-system/remote cannot be used',
    spec: { kubeConfig: { secretRef: { name: 'remote' } } },
    files: { 'a.yaml': configMap('no-kubeconfig') },
  },
  {
    name: 'no-file',
    reason: 'BuildFailed',
    told: 'kustomization.yaml names missing.yaml, which cannot be read',
    files: { 'kustomization.yaml': { resources: ['missing.yaml'] } },
  },
  {
    name: 'twice',
    reason: 'BuildFailed',
    told: 'is there twice',
    files: {
      'kustomization.yaml': { resources: ['a.yaml', 'b.yaml'] },
      ...{ 'a.yaml': configMap('twice'), 'b.yaml': configMap('twice') },
    },
  },
  {
    name: 'no-target',
    reason: 'BuildFailed',
    told: 'a patch or replacement is for',
    files: {
      'kustomization.yaml': { resources: ['a.yaml'], patches: [{ path: 'b.yaml' }] },
      ...{ 'a.yaml': configMap('no-target'), 'b.yaml': configMap('another') },
    },
  },
  { name: 'no-yaml', reason: 'BuildFailed', told: 'a.yaml is no YAML', files: { 'a.yaml': 'a: b: c' } },
  {
    name: 'unnamed',
    reason: 'BuildFailed',
    told: 'is no YAML of Kubernetes objects',
    files: { 'a.yaml': { apiVersion: 'v1', kind: 'Secret', data: { pin: 's3cr3t' } } },
  },
  {
    name: 'unknown-kind',
    reason: 'KindUnknown',
    told: 'the shoot does not know Unknown in example.com/v1',
    files: { 'a.yaml': { ...configMap('unknown-kind'), apiVersion: 'example.com/v1', kind: 'Unknown' } },
  },
  {
    name: 'no-namespace',
    reason: 'NamespaceMissing',
    told: 'namespace nowhere is not there',
    files: { 'a.yaml': configMap('no-namespace', { metadata: { name: 'a', namespace: 'nowhere' } }) },
  },
  {
    name: 'bad-label',
    reason: 'ApplyFailed',
    told: 'the API server does not accept metadata.labels of ConfigMap/default/bad-label',
    files: {
      'a.yaml': configMap('bad', { metadata: { name: 'bad-label', namespace: 'default', labels: { a: 'b c' } } }),
    },
  },
  {
    name: 'bad-secret',
    reason: 'ApplyFailed',
    told: 'of Secret/default/bad-secret; correct it',
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
    told: 'ServiceAccount flux-system/nobody may not',
    spec: { serviceAccountName: 'nobody' },
    files: { 'a.yaml': configMap('no-rights') },
  },
  {
    name: 'unhealthy',
    reason: 'HealthCheckFailed',
    told: 'ConfigMap/default/absent does not get ready',
    spec: {
      // kustomize-controller waits for half a minute at least.
      timeout: '30s',
      healthChecks: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'absent', namespace: 'default' }],
    },
    files: { 'a.yaml': configMap('unhealthy') },
  },
];
