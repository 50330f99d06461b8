import {
  additional,
  type Examples,
  fluxConfig,
  kustomization,
  listed,
  providerConfig,
  released,
} from '../examples.testing.ts';

const CONFLICT =
  'kustomize build failed: namespace transformation produces ID conflict: [{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"internal.config.kubernetes.io/previousKinds":"Secret","internal.config.kubernetes.io/previousNames":"s","internal.config.kubernetes.io/previousNamespaces":"one"},"name":"s","namespace":"default"},"stringData":{"pin":"s3cr3t"}} {"apiVersion":"v1","data":{"pin":"czNjcjN0"},"kind":"Secret","metadata":{"annotations":{"internal.config.kubernetes.io/previousKinds":"Secret","internal.config.kubernetes.io/previousNames":"s","internal.config.kubernetes.io/previousNamespaces":"two"},"name":"s","namespace":"default"}}]';
const NAMESPACES =
  'kustomize build failed: namespace transformation produces ID conflict: [{"apiVersion":"v1","kind":"Namespace","metadata":{"annotations":{"internal.config.kubernetes.io/previousKinds":"Namespace","internal.config.kubernetes.io/previousNames":"one","internal.config.kubernetes.io/previousNamespaces":"default"},"name":"default"}} {"apiVersion":"v1","kind":"Namespace","metadata":{"annotations":{"internal.config.kubernetes.io/previousKinds":"Namespace","internal.config.kubernetes.io/previousNames":"two","internal.config.kubernetes.io/previousNamespaces":"default"},"name":"default"}}]';
const inOne = { ...kustomization, spec: { path: './', targetNamespace: 'default' } };
const onlyWith = '("kustomize build ./" fails only with "namespace: default" in kustomization.yaml).';
const conflicts = (what: string, remedy: string) => ({
  [CONFLICT]: `BuildFailed: ${what} puts all objects into one namespace, where Secret s would exist twice; ${remedy} ${onlyWith}`,
  [NAMESPACES]: `BuildFailed: ${what} renames every Namespace, but the repository has more than one; ${remedy} ${onlyWith}`,
});
const patched = {
  'spec.targetNamespace': {
    object: 'ConfigMap flux-config',
    path: 'config.yaml.kustomization.patch.spec.targetNamespace',
  },
};
const ofKey = 'set kustomizationTargetNamespace in ConfigMap flux-config to none';

export const buildExamples: Examples[] = [
  [inOne, fluxConfig, conflicts('targetNamespace default', ofKey)],
  [
    inOne,
    { ...fluxConfig, keepsNamespace: true },
    conflicts('targetNamespace default, which nobody has chosen,', ofKey),
  ],
  [
    inOne,
    { ...fluxConfig, patched },
    conflicts(
      'targetNamespace default',
      'set config.yaml.kustomization.patch.spec.targetNamespace of ConfigMap flux-config to null',
    ),
  ],
  [
    inOne,
    providerConfig,
    conflicts('targetNamespace default', 'remove kustomization.template.spec.targetNamespace of the providerConfig'),
  ],
  [inOne, listed, conflicts('targetNamespace default', 'remove objects[1].spec.targetNamespace of the providerConfig')],
  [
    inOne,
    released,
    conflicts(
      'targetNamespace default',
      'remove spec.targetNamespace of Kustomization flux-system/main-ks in the shoot',
    ),
  ],
  [
    kustomization,
    providerConfig,
    {
      'cannot get sops decryption Secret \'flux-system/sops-age\': Secret "sops-age" not found': [
        'DecryptionKeyMissing: Secret flux-system/sops-age with the decryption keys does not exist in the shoot',
        additional,
      ],
      'Secret "sops-age" not found': [
        'DecryptionKeyMissing: Secret sops-age with the decryption keys does not exist in the shoot',
        additional,
      ],
      "failed to import 'age.agekey' data from sops decryption Secret 'flux-system/sops-age': malformed secret key":
        'DecryptionKeyMissing: key age.agekey of Secret flux-system/sops-age is not a usable decryption key',
      "decryption failed for 'Secret.v1.[noGrp]/basic-auth': failed to decrypt and format 'flux-system/basic-auth' Secret data: cannot get sops data key: Failed to get the data key required to decrypt the SOPS file.\n\nGroup 0: FAILED\n  age1zyhut6uk754ayr3arpcelf2zvgrllmmj94q8pctwqnr66ul2g5as4wqujw: FAILED\n    - | failed to create reader for decrypting sops data key with\n      | age: no identity matched any of the recipients":
        [
          'DecryptionFailed: none of the keys can decrypt Secret.v1.[noGrp]/basic-auth',
          additional,
          'no identity matched any of the recipients',
        ],
      "decryption failed for 'metrics': LoadEncryptedFile: sops metadata not found":
        'DecryptionFailed: metrics cannot be decrypted',
      "post build failed for 'Deployment.v1.apps/app': substitute from 'ConfigMap/shoot-info' error: configmaps \"shoot-info\" not found":
        'SubstitutionFailed: ConfigMap shoot-info with the variables does not exist in the namespace of the Kustomization',
      "component path '../shared' must be local and relative":
        'BuildFailed: component ../shared is not below the path of the Kustomization',
    },
  ],
  [
    kustomization,
    fluxConfig,
    {
      'Secret/podinfo/mysecret is SOPS encrypted, configuring decryption is required for this secret to be reconciled':
        [
          'DecryptionNotConfigured: Secret/podinfo/mysecret is encrypted with SOPS',
          'set kustomization.patch.spec.decryption in config.yaml of ConfigMap flux-config to provider sops',
        ],
      'post build failed for \'Deployment.v1.apps/app\': envsubst error: variable substitution failed: variable not set (strict mode): "domain"':
        [
          'SubstitutionFailed: the variables in Deployment.v1.apps/app cannot be substituted',
          'postBuild of kustomization.patch.spec in config.yaml of ConfigMap flux-config',
        ],
      "kustomize build failed: accumulating resources: accumulation err='merging resources from 'b.yaml': may not add resource with an already registered id: Namespace.v1.[noGrp]/apps.[noNs]'":
        'BuildFailed: Namespace.v1.[noGrp]/apps.[noNs] is defined twice',
      [CONFLICT]: [
        'BuildFailed: the field namespace of a kustomization.yaml puts all objects into one namespace, where Secret s would exist twice; remove that field, and check the result with "kustomize build ./clusters/production".',
        '(The original message is withheld because it may contain Secret data.)',
      ],
      'kustomize build failed: no matches for Id Deployment.v1.apps/a.[noNs]; failed to find unique target for patch Deployment.v1.apps/a.[noNs]':
        'BuildFailed: a patch or replacement targets Deployment.v1.apps/a.[noNs], which does not exist',
      "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'apps/a.yaml': MalformedYAMLError: yaml: line 3: mapping values are not allowed in this context in File: apps/a.yaml': evalsymlink failure":
        'BuildFailed: apps/a.yaml is not valid YAML at line 3',
      "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'k8s': read /tmp/kustomization-2520510114/fixtures/k8s: is a directory': recursed accumulation of path '/tmp/kustomization-2520510114/fixtures/k8s': accumulating resources: accumulation err='accumulating resources from 'namespace.yaml': open /tmp/kustomization-2520510114/fixtures/k8s/namespace.yaml: no such file or directory': must build at directory: not a valid directory: evalsymlink failure":
        'BuildFailed: kustomization.yaml refers to namespace.yaml, which cannot be read',
      'failed to decode Kubernetes YAML from /tmp/kustomization-42/clusters/values.yaml: missing Resource metadata':
        'BuildFailed: clusters/values.yaml does not contain Kubernetes objects in YAML',
      'failed to decode Kubernetes apiVersion, kind and name from: apiVersion: v1\ndata:\n  pin: MTIz\nkind: Secret\n':
        [
          'BuildFailed: a manifest has no apiVersion, kind or name',
          '(The original message is withheld because it may contain Secret data.)',
        ],
      'kustomize build failed: json: unknown field "env"': 'BuildFailed: "kustomize build ./clusters/production"',
      "error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']'":
        'BuildFailed: the kustomization.yaml in ./clusters/production is not valid YAML at line 1; correct it',
      'kustomize build failed: accumulating components: loader.New "must build at directory: not a valid directory: evalsymlink failure on \'/tmp/kustomization-927738248/nowhere\' : lstat /tmp/kustomization-927738248/nowhere: no such file or directory"':
        'BuildFailed: component nowhere does not exist in the source; add it',
      'kustomize build failed: trouble configuring builtin PatchTransformer with config: ` patch: \'a: [\' `: unable to parse SM or JSON patch from [patch: "a: ["]':
        'BuildFailed: a patch cannot be parsed; correct it, in patches of',
    },
  ],
];
