import { type RefusalKind, refusalIn } from '../../../shared/kube/refusal.ts';
import type { Failure } from './failure.ts';

/** Who refuses an object of the repository, and what its author can do about it; unlike for our own objects. */
const refusals: Partial<Record<RefusalKind, (object: string, by: string) => [what: string, remedy: string]>> = {
  webhookDenies: (object, by) => [`the admission webhook "${by}" denies ${object}`, 'correct it in the repository'],
  webhookFails: (object, by) => [
    `the admission webhook "${by}" does not answer for ${object}`,
    'mend the webhook, or remove its configuration',
  ],
  policyDenies: (object, by) => [`the policy "${by}" denies ${object}`, 'correct it in the repository'],
  podSecurity: (object, by) => [`${object} violates the Pod Security Standard "${by}"`, 'correct its securityContext'],
  quota: (object, by) => [`the ResourceQuota "${by}" has no room for ${object}`, 'raise it, or deploy less'],
  immutable: (object, by) => [
    `${by === '' ? 'a field' : `field ${by}`} of ${object} cannot be changed`,
    'change it back, or annotate the manifest with kustomize.toolkit.fluxcd.io/force: enabled to have it made anew',
  ],
  managedByOthers: (object, by) => [`"${by}" writes the same fields of ${object}`, 'let one of the two go'],
  terminating: (object, by) => [
    `the namespace ${by} of ${object} is being deleted`,
    'see in its status what it waits for, and remove those finalizers',
  ],
  notAllowed: (object, by) => [`"${by}" may not write ${object}`, 'give it that right in the shoot'],
  tooLarge: (object) => [`${object} is too large for the API server`, 'make it smaller'],
  invalid: (object, by) => [`the API server does not accept ${by} of ${object}`, 'correct it in the repository'],
};

function refused(object: string, message: string): [what: string, remedy: string] {
  const refusal = refusalIn(message);
  const sentence = refusal && refusals[refusal.kind]?.(object, refusal.by ?? '');
  return sentence ?? [`the API server does not take ${object}`, 'correct it in the repository'];
}

/** API servers name a kind, or its plural. */
const sourceKinds: Record<string, string> = {
  gitrepositories: 'GitRepository',
  ocirepositories: 'OCIRepository',
  buckets: 'Bucket',
  externalartifacts: 'ExternalArtifact',
};

/** What kustomize-controller cannot do, in its own words and those of kustomize, SOPS and API servers. */
export const kustomizationFailures: Failure[] = [
  {
    reason: 'ApplyFailed',
    // Webhooks and policies say what they like, also what is below.
    matches:
      /^(\S+) (?:dry-run failed|apply failed).*?(?:admission webhook "[^"]+" denied|failed calling webhook|ValidatingAdmissionPolicy '[^']+' with)/s,
    says: (found) => refused(found[1] ?? 'an object', found.input),
  },
  {
    reason: 'SourceNotReady',
    matches: /Source artifact not found|Source is not ready/,
    says: () => ['its source has no artifact yet', 'see condition SourceReady'],
    isTransient: true,
  },
  {
    reason: 'SourceMissing',
    matches: /^(\w+)\.source(?:\.toolkit|\.extensions)?\.fluxcd\.io "([^"]+)" not found/,
    says: ([, kind = '', name], { places }) => [
      `its source ${sourceKinds[kind] ?? kind} ${name} is not in the shoot`,
      `create it there, or correct sourceRef in ${places.template}`,
    ],
  },
  {
    reason: 'ApiServerNotAvailable',
    matches: /^(?:unable to get source '|failed to update status: |unable to update the healthy status)/,
    says: () => ['the API server of the shoot did not answer kustomize-controller now', 'it is tried again'],
    isTransient: true,
  },
  {
    reason: 'SourceMissing',
    matches: /^source `([^`]+)` kind '([^']+)' not supported/,
    says: ([, , kind], { places }) => [
      `kustomize-controller knows no source of kind ${kind}`,
      `correct sourceRef in ${places.template}`,
    ],
  },
  {
    reason: 'FeatureDisabled',
    matches: /ExternalArtifact feature gate is disabled/,
    says: () => [
      'kustomize-controller of this Shoot runs without the feature ExternalArtifact',
      'add source-watcher to the components in the configuration',
    ],
  },
  {
    reason: 'FeatureDisabled',
    matches: /^to use spec\S+ .*please enable the (\w+) feature gate/,
    says: ([, gate], { places }) => [
      `kustomize-controller of this Shoot runs without the feature ${gate}`,
      `remove serviceAccountName from ${places.decryption}, and use a secretRef instead`,
    ],
  },
  {
    reason: 'ExpressionInvalid',
    matches:
      /^Reconciliation failed terminally due to configuration error: (?:terminal error: )?(failed to evaluate dependency)?/,
    says: ([, dependency], { places }) => [
      'one of its CEL expressions cannot be used',
      `correct ${dependency === undefined ? 'healthCheckExprs' : 'readyExpr of dependsOn'} in ${places.template}`,
    ],
  },
  {
    reason: 'KubeConfigUnusable',
    matches:
      /^(?:unable to read |invalid )?KubeConfig (?:in )?secret '([^']+)'|^(?:cluster|user) '[^']+' (?:is nil|references a)/,
    says: ([, name], { places }) => [
      name === undefined
        ? 'no client for the cluster that it deploys to comes about'
        : `the kubeconfig in Secret ${name} cannot be used`,
      `put a kubeconfig with everything in it into key value of that Secret, or correct kubeConfig in ${places.template}`,
    ],
  },
  {
    reason: 'DependencyNotReady',
    matches: /dependency '([^']+)' (is not ready|not found|revision is not up to date)/,
    says: ([, name, state], { places }) => [
      `it waits for Kustomization ${name}, which ${state === 'not found' ? 'is not there' : state}`,
      `see what that one says, or correct dependsOn in ${places.template}`,
    ],
    isTransient: true,
  },
  {
    reason: 'DependencyNotReady',
    matches: /Dependencies do not meet ready condition/,
    says: (_, { places }) => [
      'it waits for what dependsOn names',
      `see what those Kustomizations say, or correct dependsOn in ${places.template}`,
    ],
    isTransient: true,
  },
  {
    reason: 'ArtifactNotReachable',
    matches: /failed to download archive|failed to extract archive|giving up after \d+ attempt/,
    says: () => [
      'kustomize-controller cannot fetch the artifact from source-controller',
      'see whether source-controller runs and NetworkPolicies let the two talk',
    ],
  },
  {
    reason: 'ArtifactUnusable',
    matches: /failed to verify archive|greater than the max download size/,
    says: () => [
      'what kustomize-controller has fetched is not the artifact that source-controller has announced',
      'restart source-controller, should this last',
    ],
  },
  {
    reason: 'StorageFull',
    matches: /^(?:tmp dir error|failed to ).*no space left on device/,
    says: () => [
      'kustomize-controller has no space left for the artifact',
      'exclude files with .sourceignore in the repository, or enlarge its volume',
    ],
  },
  {
    reason: 'PathNotFound',
    matches: /kustomization path not found: (?:l?stat )?(?:\/tmp\/[^/\s]+\/?)?(\S*?):? no such file or directory/,
    says: ([, folder], { path, places }) => [
      `the source has no folder ${folder || path}`,
      `create it there, or correct ${places.path}`,
    ],
  },
  {
    reason: 'DecryptionKeyMissing',
    matches:
      /cannot get \S+ (?:SOPS age )?decryption Secret '([^']+)'|^(?:decryption secret error: )?secrets? "([^"]+)" not found/i,
    says: ([, name, other], { decryption, places }) => [
      `Secret ${name ?? other} with the keys for decryption is not in the shoot`,
      `create ${decryption}, or correct ${places.decryption}`,
    ],
  },
  {
    reason: 'DecryptionKeyMissing',
    matches: /failed to import '([^']+)' data from \S+ (?:SOPS age )?decryption Secret '([^']+)'/,
    says: ([, key, name], { decryption }) => [
      `key ${key} of Secret ${name} cannot be used for decryption`,
      `put the whole private key into ${decryption}, in the form that its suffix says (.agekey, .asc)`,
    ],
  },
  {
    reason: 'DecryptionNotConfigured',
    matches: /(\S+) is SOPS encrypted, configuring decryption is required/,
    says: ([, name], { places }) => [
      `${name} is encrypted with SOPS, and nothing says how to decrypt it`,
      `set ${places.decryption} to provider sops with a secretRef`,
    ],
  },
  {
    reason: 'DecryptionFailed',
    matches: /(?:decryption failed for '([^']+)'.*)?(?:cannot get sops data key|Error getting data key)/s,
    says: ([, name], { decryption }) => [
      `none of the keys opens ${name === undefined ? 'an encrypted file' : name}`,
      `put the private key for one of its recipients into ${decryption} (names end in .agekey or .asc), or encrypt the file for the key that is there`,
    ],
  },
  {
    reason: 'DecryptionFailed',
    matches: /decryption failed for '([^']+)'|error decrypting (?:env )?sources/,
    says: ([, name]) => [
      `${name ?? 'a file'} cannot be decrypted`,
      'see whether "sops --decrypt" reads it as it is in the repository',
    ],
  },
  {
    reason: 'SubstitutionFailed',
    matches: /substitute from '(ConfigMap|Secret)\/([^']+)' error/,
    says: ([, kind, name], { places }) => [
      `${kind} ${name} with variables is not in its namespace`,
      `create it, mark it optional, or correct postBuild.substituteFrom in ${places.template}`,
    ],
  },
  {
    reason: 'SubstitutionFailed',
    matches: /post build failed for '([^']+)'/,
    says: ([, name], { places }) => [
      `the variables in ${name} cannot be filled in`,
      `set them in postBuild of ${places.template}, or write $$ where no variable is meant`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /may not add resource with an already registered id: ([^']+)/,
    says: ([, id]) => [`${id} is there twice`, 'remove one of the two, or exclude its file'],
  },
  {
    reason: 'BuildFailed',
    matches: /no matches for Id ([^;\s]+)|unable to find patch target "([^"]+)"/,
    says: ([, id, name]) => [
      `a patch or replacement is for ${id ?? name}, which is not there`,
      'correct its target, or add that object',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /MalformedYAMLError: (?:yaml: )?(line \d+)?.* in File: (\S+?)'?(?:[:\s]|$)/s,
    says: ([, line, file]) => [`${file} is no YAML${line === undefined ? '' : ` at ${line}`}`, 'correct it'],
  },
  {
    reason: 'BuildFailed',
    matches: /accumulating resources from '(?![^']*': read )([^']+)': (?:open \S+: )?(?:no such file|evalsymlink|Get )/,
    says: ([, name]) => [
      `kustomization.yaml names ${name}, which cannot be read`,
      'add it to the repository, or remove it from kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches:
      /(?:failed to decode Kubernetes YAML from|while parsing YAML file) (?:\/tmp\/[^/\s]+\/)?([^\s:]+)|got file '([^']+)', but/,
    says: ([, file, other]) => [
      `${file ?? other} is no YAML of Kubernetes objects`,
      'correct it, or keep it out with .sourceignore or a kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /failed to decode Kubernetes apiVersion, kind and name/,
    says: () => [
      'one of its manifests has no apiVersion, kind or name',
      'correct it, or keep it out with .sourceignore or a kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /component path '([^']+)' must be local and relative/,
    says: ([, folder], { places }) => [
      `the component ${folder} is not below its path`,
      `move it there, or correct components in ${places.template}`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /kustomize build failed/,
    says: (_, { path }) => [
      `kustomize cannot build ${path}`,
      `correct what it names; "kustomize build ${path}" in the repository shows the same`,
    ],
  },
  {
    reason: 'HealthCheckFailed',
    matches:
      /health check failed after \S+ (?:timeout waiting for|failed early due to stalled resources): \[(?:can't determine status for )?(.*?)(?: status: '|\]|, |$)/i,
    says: ([, first], { places }) => [
      `${first} does not get ready`,
      `see its status and events in the shoot, or raise ${places.timeout}`,
    ],
  },
  {
    reason: 'HealthCheckFailed',
    matches: /health check failed|can't determine status for/i,
    says: (_, { places }) => [
      'something that it has applied does not get ready',
      `see what the message names in the shoot, or correct healthChecks in ${places.template}`,
    ],
  },
  {
    reason: 'HealthCheckCanceled',
    matches: /Health checks canceled|New reconciliation triggered by/,
    says: () => ['a newer revision came while it waited', 'that one is applied next'],
    isTransient: true,
  },
  {
    reason: 'AccessDenied',
    matches: /can't access '([^']+)', /,
    says: ([, name], { places }) => [
      `it may not use ${name}`,
      `put the source into the namespace of the Kustomization, or correct sourceRef in ${places.template}`,
    ],
  },
  {
    reason: 'NotAllowed',
    matches: /is forbidden: User "system:serviceaccount:([^":]+):([^"]+)" cannot (\w+) resource "([^"]+)"/,
    says: ([, namespace, name, verb, resource]) => [
      `ServiceAccount ${namespace}/${name} may not ${verb} ${resource}`,
      'bind a role with that right to it in the shoot',
    ],
  },
  {
    reason: 'KindUnknown',
    matches: /no matches for kind "([^"]+)" in version "([^"]+)"/,
    says: ([, kind, version]) => [
      `the shoot does not know ${kind} in ${version}`,
      'deploy its CustomResourceDefinition first, by a Kustomization of its own that this one dependsOn, or correct the version',
    ],
  },
  {
    reason: 'NamespaceMissing',
    matches: /^(\S+) namespace not specified|namespaces "([^"]+)" not found/,
    says: ([, object, namespace], { places }) =>
      namespace === undefined
        ? [`${object} has no namespace`, `write one into its manifest, or set targetNamespace in ${places.template}`]
        : [`namespace ${namespace} is not there`, 'add its manifest to the repository'],
  },
  {
    reason: 'ApiServerNotAvailable',
    matches:
      /^(\S+) (?:dry-run failed|apply failed).*(?:connection refused|i\/o timeout|deadline exceeded|etcdserver|currently unable to handle|too many requests|object has been modified|TLS handshake|in the time allotted|client connection lost|unexpected EOF|reset by peer)/is,
    says: ([, object]) => [`the API server of the shoot did not take ${object} now`, 'it is tried again'],
    isTransient: true,
  },
  {
    reason: 'MigrationNeeded',
    matches: /^(\S+) .*request to convert CR to an invalid group\/version: (\S+)/,
    says: ([, object, version]) => [
      `${object} was last written in ${version}, which the shoot no longer has`,
      'run "flux migrate" against the Shoot',
    ],
  },
  {
    reason: 'ApplyFailed',
    matches: /^(\S+) immutable field detected, failed to /,
    says: ([, object]) => [
      `${object} is to be made anew, and does not go`,
      'see in the shoot what keeps it, for example a finalizer or a webhook',
    ],
  },
  {
    reason: 'ApplyFailed',
    matches:
      /^(\S+) (?:dry-run failed|apply failed|not found|metadata\.managedFields cleanup failed|failed to migrate API version|normalization error)/,
    says: (found) => refused(found[1] ?? 'an object', found.input),
  },
  {
    reason: 'PruneFailed',
    matches: /(?:(\S+) )?(?:delete failed|prune failed|termination timeout|failed to wait for resources termination)/i,
    says: ([, object]) => [
      `${object ?? 'an object'} that left the repository cannot be deleted`,
      'see in the shoot what keeps it, for example a finalizer or a webhook',
    ],
  },
];
