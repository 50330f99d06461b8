import type { Examples } from '../examples.testing.ts';
import { chart, listed, release } from '../examples.testing.ts';

export const chartExamples: Examples[] = [
  [
    chart,
    listed,
    {
      'chart pull error: failed to download chart for remote reference: Get "oci://registry-1.docker.io/bitnamicharts/keycloak:24.4.11": unsupported protocol scheme "oci"':
        'ArtifactUnusable: HelmChart flux-system/app: the index of its HelmRepository refers to oci://registry-1.docker.io/bitnamicharts/keycloak, and Flux does not follow it; read the chart with an OCIRepository that has this url, and name it as chartRef instead of chart in the HelmRelease.',
      'dependency build error: failed to add remote dependency \'redis\': failed to download chart: Get "oci://registry-1.docker.io/bitnamicharts/redis:24.1.0": unsupported protocol scheme "oci"':
        'ArtifactUnusable: the chart depends on redis, whose repository refers to oci://registry-1.docker.io/bitnamicharts/redis:24.1.0, and Flux does not follow it; use a version of the chart whose Chart.yaml names an oci:// repository for redis.',
      "dependency build error: failed to add remote dependency 'redis': no chart repository for 'https://charts.example.com'":
        'ArtifactUnusable: the chart depends on redis, which Flux cannot fetch; correct the dependencies in its Chart.yaml',
      'chart pull error: failed to download chart for remote reference: failed to fetch https://charts.example.com/app-1.0.0.tgz : 404 Not Found':
        'ChartNotFound: the repository has no file https://charts.example.com/app-1.0.0.tgz, although its index names it; publish it again',
      'chart pull error: failed to download chart for remote reference: failed to fetch https://charts.example.com/app-1.0.0.tgz : 504 Gateway Time-out':
        'ServerFailed: the server answers a request for https://charts.example.com/app-1.0.0.tgz with an error; Flux retries',
      'invalid chart reference: failed to get chart version for remote reference: no chart version found for app-9.0.0':
        'ChartNotFound: the repository has no chart of this name, or not in this version',
      'failed to login to OCI registry: Get "https://ghcr.io/v2/": denied: denied':
        'AuthenticationFailed: the registry does not allow Flux to pull the chart',
      "values files merge error: failed to merge chart values: unmarshaling values from 'values-prod.yaml' failed: error converting YAML to JSON: yaml: line 2: mapping values are not allowed":
        'ValuesInvalid: the file values-prod.yaml is not YAML with values; correct it, or valuesFiles in objects[1].spec',
      'chart pull error: failed to get chart version for remote reference: could not locate a version matching provided version string 9.x':
        'ChartNotFound: HelmChart flux-system/app: the registry has no version of the chart that matches 9.x; push one, or correct the version in objects[1].spec of the providerConfig',
      'chart pull error: failed to download chart for remote reference: failed to get \'oci://registry.example.com/charts/app:9.0.0\': failed to perform "FetchReference" on source: registry.example.com/charts/app:9.0.0: not found':
        'ChartNotFound: correct the chart and its version in objects[1].spec of the providerConfig',
      'invalid chart reference: failed to get chart version for remote reference: improper constraint: ">>9"':
        'RevisionInvalid: ">>9" is not a valid version range; correct the version of the chart in objects[1].spec of the providerConfig',
      'chart pull error: failed to get chart version for remote reference: could not get tags for "app": could not fetch tags for "oci://registry.example.com/charts/app": GET "https://registry.example.com/v2/charts/app/tags/list": basic credential not found':
        'AuthenticationFailed: put .dockerconfigjson with pull access into the Secret that spec.secretRef of its HelmRepository names',
      'chart pull error: could not fetch tags for "oci://registry.example.com/charts/app": Get "https://registry.example.com/v2/": proxyconnect tcp: dial tcp 192.0.2.7:3128: connect: connection refused':
        'ProxyFailed: correct flux.proxy',
      'unknown build error: failed to get authentication secret \'flux-system/nothing\': secrets "nothing" not found':
        'CredentialsMissing: Secret flux-system/nothing of its HelmRepository does not exist in the shoot; create its original',
      'failed to get source: HelmRepository.source.toolkit.fluxcd.io "charts" not found':
        'SourceMissing: HelmRepository charts does not exist in the shoot; create it, or correct the reference in objects[1].spec of the providerConfig',
      "no artifact available for HelmRepository source 'charts'":
        'SourceNotReady: HelmRepository charts has no artifact yet; check HelmRepository charts',
      'invalid chart reference: stat /tmp/helmchart-flux-system-app-4101488288/source/charts/app: no such file or directory':
        'PathNotFound: the source has no chart in the folder charts/app; add it, or correct the chart in objects[1].spec of the providerConfig',
      "values files merge error: no values file found at path '/production.yaml' (reference 'production.yaml')":
        'ValuesMissing: there is no file /production.yaml with values; add it, or correct valuesFiles in objects[1].spec of the providerConfig',
      "failed to verify the signature using provider 'cosign': no matching signatures were found for 'registry.example.com/charts/app:1.2.3'":
        'VerificationFailed: sign the chart, or correct verify in objects[1].spec of the providerConfig',
      'chart pull error: failed to get chart version for remote reference: could not get tags for "app": could not fetch tags for "oci://registry.example.com/charts/app": Get "https://registry.example.com/v2/charts/app/tags/list": tls: failed to verify certificate: x509: certificate signed by unknown authority':
        'NotReachable: check url, certSecretRef and insecure of its HelmRepository',
    },
  ],
  [
    release,
    listed,
    {
      'could not get Source object: OCIRepository.source.toolkit.fluxcd.io "app" not found':
        'SourceMissing: OCIRepository app does not exist in the shoot; create it',
    },
  ],
];
