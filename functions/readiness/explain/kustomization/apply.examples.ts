import { type Examples, fluxConfig, kustomization, providerConfig } from '../examples.testing.ts';

export const applyExamples: Examples[] = [
  [
    kustomization,
    fluxConfig,
    {
      'Deployment/apps/a dry-run failed (Forbidden): admission webhook "validate.kyverno.svc-fail" denied the request: no limits':
        'ApplyFailed: the admission webhook "validate.kyverno.svc-fail" denies Deployment/apps/a; correct it in the repository',
      'ClusterIssuer/letsencrypt dry-run failed: no matches for kind "ClusterIssuer" in version "cert-manager.io/v1"': [
        'KindUnknown: the shoot has no kind ClusterIssuer in cert-manager.io/v1',
        'dependsOn',
      ],
      'ConfigMap/a namespace not specified: the server could not find the requested resource':
        'NamespaceMissing: ConfigMap/a has no namespace; set one in its manifest, or set ',
      'ConfigMap/apps/a not found: namespaces "apps" not found': 'NamespaceMissing: namespace apps does not exist',
      'Deployment/apps/a dry-run failed: Get "https://10.0.0.1:443/api": dial tcp 10.0.0.1:443: connect: connection refused':
        'ApiServerNotAvailable: the API server of the shoot could not process Deployment/apps/a right now; Flux retries automatically',
      'HelmRelease/apps/a dry-run failed: request to convert CR to an invalid group/version: helm.toolkit.fluxcd.io/v2beta1':
        'MigrationNeeded: run "flux migrate" against the shoot',
      'Job/apps/a immutable field detected, failed to delete object: jobs.batch "a" not found':
        'ApplyFailed: Job/apps/a must be recreated, but cannot be deleted',
      'Deployment/apps/a dry-run failed (Invalid): Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"a"}}: field is immutable':
        [
          'ApplyFailed: field spec.selector of Deployment/apps/a is immutable',
          'kustomize.toolkit.fluxcd.io/force: enabled',
        ],
      'Deployment/apps/a dry-run failed (FieldManagerConflict): Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas':
        'ApplyFailed: "kubectl" manages the same fields of Deployment/apps/a',
      'Deployment/apps/a dry-run failed: failed to create typed patch object (apps/a; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema':
        'ApplyFailed: the API server rejects .spec.replica of Deployment/apps/a',
      'PersistentVolumeClaim/apps/a dry-run failed (Invalid): PersistentVolumeClaim "a" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims':
        'ApplyFailed: field spec of PersistentVolumeClaim/apps/a is immutable',
      'ClusterRole/a dry-run failed (Forbidden): clusterroles.rbac.authorization.k8s.io "a" is forbidden: user "system:serviceaccount:apps:deployer" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}':
        'ApplyFailed: "system:serviceaccount:apps:deployer" is not allowed to write ClusterRole/a',
      'delete failed, errors: ConfigMap/apps/a delete failed: timed out':
        'PruneFailed: was removed from the repository, but cannot be deleted',
    },
  ],
  [
    kustomization,
    providerConfig,
    {
      "health check failed after 2m0.013489487s: timeout waiting for: [HelmRelease/apps/httpbin status: 'InProgress', Deployment/apps/a status: 'Failed']":
        'HealthCheckFailed: HelmRelease/apps/httpbin does not become ready; check its status and events in the shoot',
      "health check failed after 30.1s: timeout waiting for: [can't determine status for Deployment/apps/a]":
        'HealthCheckFailed: : Deployment/apps/a does not become ready',
      'health check failed after 30.1s: context deadline exceeded':
        'HealthCheckFailed: an applied object does not become ready',
      'Health checks canceled due to new reconciliation triggered by GitRepository/flux-system/fleet':
        'HealthCheckCanceled: a newer revision arrived',
      "can't access 'GitRepository/other/fleet', cross-namespace references have been blocked":
        'AccessDenied: it is not allowed to use GitRepository/other/fleet',
      'Deployment/apps/a dry-run failed (Forbidden): deployments.apps "a" is forbidden: User "system:serviceaccount:apps:deployer" cannot patch resource "deployments" in API group "apps" in the namespace "apps"':
        'NotAllowed: ServiceAccount apps/deployer is not allowed to patch deployments',
    },
  ],
];
