import type { Failure } from '../remedies.ts';

/** API servers name a kind, or its plural. */
const sourceKinds: Record<string, string> = {
  gitrepositories: 'GitRepository',
  ocirepositories: 'OCIRepository',
  buckets: 'Bucket',
  externalartifacts: 'ExternalArtifact',
};

const dependencyStates: Record<string, string> = {
  'is not ready': 'which is not ready',
  'not found': 'which does not exist',
  'revision is not up to date': 'whose revision is not up to date',
};

/** Everything before the build: the source and its artifact, dependencies, features, the kubeconfig, the path. */
export const prerequisiteFailures: Failure[] = [
  {
    reason: 'SourceNotReady',
    matches: /Source artifact not found|Source is not ready/,
    what: 'the source has no artifact yet',
    remedy: 'check {sourceToCheck}',
    isTransient: true,
  },
  {
    reason: 'SourceMissing',
    matches: /^(\w+)\.source(?:\.toolkit|\.extensions)?\.fluxcd\.io "([^"]+)" not found/,
    what: ([, kind = '', name]) => `the source ${sourceKinds[kind] ?? kind} ${name} does not exist in the shoot`,
    remedy: 'create it, or correct sourceRef in {places.template}',
  },
  {
    reason: 'ApiServerNotAvailable',
    matches: /^(?:unable to get source '|failed to update status: |unable to update the healthy status)/,
    what: 'the API server of the shoot did not respond to kustomize-controller',
    remedy: 'Flux retries automatically',
    isTransient: true,
  },
  {
    reason: 'SourceMissing',
    matches: /^source `([^`]+)` kind '([^']+)' not supported/,
    what: 'kustomize-controller does not support sources of kind $2',
    remedy: 'correct sourceRef in {places.template}',
  },
  {
    reason: 'FeatureDisabled',
    matches: /ExternalArtifact feature gate is disabled/,
    what: 'kustomize-controller of this shoot runs without the feature gate ExternalArtifact',
    remedy: 'add source-watcher to the components in the configuration',
  },
  {
    reason: 'FeatureDisabled',
    matches: /^to use spec\S+ .*please enable the (\w+) feature gate/,
    what: 'kustomize-controller of this shoot runs without the feature gate $1',
    remedy: 'set objectLevelWorkloadIdentity to true, or remove serviceAccountName from {places.decryption}',
  },
  {
    reason: 'ExpressionInvalid',
    matches:
      /^Reconciliation failed terminally due to configuration error: (?:terminal error: )?(failed to evaluate dependency)?/,
    what: 'a CEL expression is invalid',
    remedy: ([, dependency], { places }) =>
      `correct ${dependency === undefined ? 'healthCheckExprs' : 'readyExpr of dependsOn'} in ${places.template}`,
  },
  {
    reason: 'KubeConfigUnusable',
    matches:
      /^(?:unable to read |invalid )?KubeConfig (?:in )?secret '([^']+)'|^(?:cluster|user) '[^']+' (?:is nil|references a)/,
    what: ([, name]) =>
      name === undefined
        ? 'the kubeconfig of the target cluster cannot be used'
        : `the kubeconfig in Secret ${name} cannot be used`,
    remedy: 'put a self-contained kubeconfig into key value of its Secret, or correct kubeConfig in {places.template}',
  },
  {
    reason: 'DependencyNotReady',
    matches: /dependency '([^']+)' (is not ready|not found|revision is not up to date)/,
    what: ([, name, state = '']) => `it is waiting for Kustomization ${name}, ${dependencyStates[state]}`,
    remedy: 'check the conditions of that Kustomization, or correct dependsOn in {places.template}',
    isTransient: true,
  },
  {
    reason: 'DependencyNotReady',
    matches: /Dependencies do not meet ready condition/,
    what: 'it is waiting for the Kustomizations in dependsOn',
    remedy: 'check their conditions, or correct dependsOn in {places.template}',
    isTransient: true,
  },
  {
    reason: 'ArtifactNotReachable',
    matches: /failed to download archive|failed to extract archive|giving up after \d+ attempt/,
    what: 'kustomize-controller cannot download the artifact from source-controller',
    remedy: 'check that source-controller is running and that NetworkPolicies allow the connection',
  },
  {
    reason: 'ArtifactUnusable',
    matches: /failed to verify archive|greater than the max download size/,
    what: 'the downloaded artifact is not the one that source-controller has announced',
    remedy: 'if this persists, restart source-controller',
  },
  {
    reason: 'StorageFull',
    matches: /^(?:tmp dir error|failed to ).*no space left on device/,
    what: 'kustomize-controller has no space left for the artifact',
    remedy: 'exclude files with .sourceignore in the repository, or enlarge the volume of the controller',
  },
  {
    reason: 'PathNotFound',
    matches:
      /kustomization path not found: (?:l?stat )?(?:\/\S*?\/kustomization-\d+\/?)?(\S*?):? no such file or directory/,
    what: ([, folder], { path }) => `the source has no folder ${folder || path}`,
    remedy: 'create it, or correct {places.path}',
  },
];
