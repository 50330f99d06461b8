import { type Examples, fluxConfig, kustomization, providerConfig, released } from '../examples.testing.ts';

export const prerequisiteExamples: Examples[] = [
  [
    kustomization,
    fluxConfig,
    {
      'Source artifact not found, retrying in 30s': 'SourceNotReady: SourceReady',
      'failed to download archive: GET http://source-controller.flux-system.svc.cluster.local./gitrepository/flux-system/main-gitrepo/3f5e.tar.gz giving up after 10 attempt(s)':
        'ArtifactNotReachable: NetworkPolicies',
      "failed to verify archive: computed digest doesn't match provided 'sha256:18db1c40' (check whether file size exceeds max download size)":
        'ArtifactUnusable: restart source-controller',
      'tmp dir error: mkdir /tmp/kustomization-1: no space left on device': 'StorageFull: .sourceignore',
      'kustomization path not found: stat /tmp/kustomization-878691743/clusters/production: no such file or directory':
        'PathNotFound: the source has no folder clusters/production; create it, or correct repositoryPath in ConfigMap flux-config',
    },
  ],
  [
    kustomization,
    providerConfig,
    {
      'GitRepository.source.toolkit.fluxcd.io "fleet" not found':
        'SourceMissing: the source GitRepository fleet does not exist in the shoot; create it, or correct sourceRef in kustomization.template.spec of the providerConfig',
      'unable to get source \'flux-system/fleet\': Get "https://100.64.0.1:443/apis": dial tcp 100.64.0.1:443: connect: connection refused':
        'ApiServerNotAvailable: did not respond to kustomize-controller; Flux retries automatically',
      "source `fleet` kind 'Repository' not supported":
        'SourceMissing: kustomize-controller does not support sources of kind Repository',
      "can't access 'ExternalArtifact/flux-system/x', ExternalArtifact feature gate is disabled":
        'FeatureDisabled: add source-watcher to the components',
      'to use spec.decryption.serviceAccountName for decryption authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller':
        'FeatureDisabled: set objectLevelWorkloadIdentity to true, or remove serviceAccountName from kustomization.template.spec.decryption',
      "Reconciliation failed terminally due to configuration error: terminal error: failed to evaluate dependency infra: failed to parse the CEL expression 'x('":
        'ExpressionInvalid: correct readyExpr of dependsOn in kustomization.template.spec',
      'unable to read KubeConfig secret \'flux-system/remote\' error: Secret "remote" not found':
        'KubeConfigUnusable: the kubeconfig in Secret flux-system/remote cannot be used',
      "dependency 'flux-system/infra' is not ready":
        'DependencyNotReady: it is waiting for Kustomization flux-system/infra, which is not ready',
      'dependency \'flux-system/infra\' not found: Kustomization.kustomize.toolkit.fluxcd.io "infra" not found': [
        'DependencyNotReady: which does not exist',
        'dependsOn in kustomization.template.spec of the providerConfig',
      ],
      'Dependencies do not meet ready condition, retrying in 30s':
        'DependencyNotReady: it is waiting for the Kustomizations in dependsOn',
    },
  ],
  [
    kustomization,
    released,
    {
      'ocirepositories.source.toolkit.fluxcd.io "fleet" not found':
        'SourceMissing: the source OCIRepository fleet does not exist in the shoot; create it, or correct sourceRef in spec of Kustomization flux-system/main-ks in the shoot',
      'kustomization path not found: stat /tmp/kustomization-878691743/clusters/production: no such file or directory':
        'PathNotFound: correct spec.path of Kustomization flux-system/main-ks in the shoot',
    },
  ],
];
