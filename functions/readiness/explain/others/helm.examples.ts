import type { Examples } from '../examples.testing.ts';
import { chart, listed, release } from '../examples.testing.ts';

export const helmExamples: Examples[] = [
  [
    release,
    listed,
    {
      "could not resolve Secret chart values reference 'flux-system/app-values' with key 'values.yaml': secrets \"app-values\" not found":
        [
          'ValuesMissing: HelmRelease flux-system/app: it takes values from key values.yaml of Secret flux-system/app-values, which Flux cannot read',
          'add the key to the original of the Secret, or correct valuesFrom in objects[1].spec of the providerConfig',
        ],
      "HelmChart 'flux-system/flux-system-app' is not ready: invalid chart reference: failed to get chart version for remote reference: no 'app' chart with version matching '9.*' found":
        'ChartNotFound: HelmRelease flux-system/app: the repository has no chart app',
      'HelmChart \'flux-system/flux-system-app\' is not ready: chart pull error: failed to download chart for remote reference: Get "oci://ghcr.io/org/charts/app:1.0.0": unsupported protocol scheme "oci"':
        'ArtifactUnusable: HelmRelease flux-system/app: the index of its HelmRepository refers to oci://ghcr.io/org/charts/app, ',
      'Helm install failed for release apps/app with chart app@1.5.0: chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.0':
        'ReleaseFailed: the chart needs Kubernetes >=1.30.0-0, and the shoot has v1.29.0; choose a version of the chart for it',
      'Helm install failed for release apps/app with chart app@1.5.0: Unable to continue with install: ConfigMap "app" in namespace "apps" exists and cannot be imported into the current release: invalid ownership metadata':
        'ReleaseFailed: ConfigMap apps/app exists and belongs to no release or to another one; remove it from what else deploys it',
      "dependency 'flux-system/database' is not ready":
        'DependencyNotReady: it depends on HelmRelease flux-system/database, which is not ready; check HelmRelease flux-system/database',
      "HelmChart 'flux-system/flux-system-app' is not ready: latest generation of object has not been reconciled":
        'SourceNotReady: HelmChart flux-system/flux-system-app is not ready; what follows says why',
      'Failed to perform remediation: missing target release for rollback: cannot remediate failed release':
        'RetriesExceeded: install.remediation and upgrade.remediation, in objects[1].spec of the providerConfig',
      'Helm install failed for release apps/app with chart app@1.5.0: context deadline exceeded':
        'ReleaseFailed: the objects of release apps/app did not become ready during its install; check its Pods, Jobs and volumes in the shoot, or raise objects[1].spec.timeout of the providerConfig',
      'Helm upgrade failed for release apps/app with chart app@1.5.0: template: app/templates/deployment.yaml:77:22: executing "app/templates/deployment.yaml" at <concat .Values.env>: error calling concat: Cannot concat type map as list':
        'ReleaseFailed: the chart of release apps/app cannot be rendered with these values; correct values and valuesFrom in objects[1].spec',
      'Helm upgrade failed for release apps/app with chart app@1.5.0: cannot patch "app" with kind Service: Service "app" is invalid: spec.clusterIP: field is immutable':
        'ReleaseFailed: Helm reports a failure of the upgrade of release apps/app; correct what the message names, with the chart or its values in objects[1].spec',
      "could not resolve Secret chart values reference 'flux-system/app-values' with key 'values.yaml': error converting YAML to JSON: yaml: mapping values are not allowed in this context":
        'ValuesInvalid: key values.yaml of Secret flux-system/app-values is not YAML with values; correct it, or valuesFrom in objects[1].spec of the providerConfig',
      "Failed to install after 1 attempt(s): Helm install failed for release apps/app with chart app@1.2.3: timeout waiting for: [PersistentVolumeClaim/apps/data status: 'InProgress']":
        'ReleaseFailed: did not become ready during its install, and Flux no longer tries; check its Pods, Jobs and volumes in the shoot',
      'Helm install failed for release apps/app with chart app@1.2.3: error while running post render on files: trouble configuring builtin PatchTransformer with config':
        'ReleaseFailed: the post-renderer of release apps/app fails; correct postRenderers in objects[1].spec of the providerConfig',
      'Helm install failed for release apps/app with chart app@1.2.3: unable to build kubernetes objects from release manifest: resource mapping not found for name: "a" namespace: "" from "": no matches for kind "Unknown" in version "example.com/v1" ensure CRDs are installed first':
        'KindUnknown: the shoot has no kind Unknown in example.com/v1; deploy its CustomResourceDefinition first, in a HelmRelease that this one names in dependsOn',
      'Failed to install after 1 attempt(s): Helm install failed for release apps/app with chart app@1.2.3: server-side apply failed for object apps/app /v1, Kind=ConfigMap: namespaces "apps" not found':
        'NamespaceMissing: namespace apps does not exist, and Flux no longer tries; create it, or set install.createNamespace',
      'unable to get \'flux-system/database\' dependency: helmreleases.helm.toolkit.fluxcd.io "database" not found':
        'DependencyNotReady: it depends on HelmRelease flux-system/database, which does not exist; create it, or correct dependsOn in objects[1].spec of the providerConfig',
      "Reconciliation failed terminally due to configuration error: terminal error: failed to evaluate dependency database: failed to parse the CEL expression 'dep.(': ERROR: <input>:1:5: Syntax error":
        'ExpressionInvalid: correct readyExpr of dependsOn, or healthCheckExprs, in objects[1].spec of the providerConfig',
      'could not get KubeConfig secret \'flux-system/remote\': secrets "remote" not found':
        'KubeConfigUnusable: the kubeconfig in Secret flux-system/remote cannot be used',
      'Could not determine release state: failed to retrieve last release from storage: query: failed to query with labels: secrets is forbidden: User "system:serviceaccount:flux-system:deployer" cannot list resource "secrets" in API group "" in the namespace "flux-system"':
        'NotAllowed: ServiceAccount flux-system/deployer is not allowed to list secrets',
      'Could not load chart: chart illegally contains content outside the base directory: "a.yaml"':
        'ArtifactUnusable: the artifact is not a chart that Helm can load; correct the chart or chartRef in objects[1].spec of the providerConfig',
    },
  ],
  [
    chart,
    listed,
    {
      "invalid chart reference: failed to get chart version for remote reference: no 'app' chart with version matching '9.*' found":
        'ChartNotFound: HelmChart flux-system/app: the repository has no chart app in a version that matches 9.*; publish it, or correct the chart and its version in objects[1].spec',
    },
  ],
];
