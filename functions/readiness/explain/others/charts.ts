import type { Failure } from '../remedies.ts';
import { proxyFailed } from '../source/credentials.ts';

/** Charts of Helm. A HelmRelease repeats the message of the HelmChart that it waits for. */
export const chartFailures: Failure[] = [
  proxyFailed,
  {
    reason: 'ArtifactUnusable',
    matches:
      /failed to add remote dependency '([^']+)'.{0,500}Get "(oci:\/\/[^"\s]+)": unsupported protocol scheme "oci"/s,
    what: 'the chart depends on $1, whose repository refers to $2, and Flux does not follow it',
    remedy: 'use a version of the chart whose Chart.yaml names an oci:// repository for $1',
  },
  {
    reason: 'ArtifactUnusable',
    matches: /Get "(oci:\/\/[^"\s]+?)(?::[^:"/\s]+)?": unsupported protocol scheme "oci"/,
    what: 'the index of its HelmRepository refers to $1, and Flux does not follow it',
    remedy:
      'read the chart with an OCIRepository that has this url, and name it as chartRef instead of chart in the HelmRelease',
  },
  {
    reason: 'ChartNotFound',
    matches: /failed to fetch (\S+) : 404\b/,
    what: 'the repository has no file $1, although its index names it',
    remedy: 'publish it again, or choose another version of the chart in {places.template}',
  },
  {
    reason: 'ServerFailed',
    matches: /chart.{0,300}failed to fetch (\S+) : 5\d\d\b/s,
    what: 'the server answers a request for $1 with an error',
    remedy: 'Flux retries automatically',
    isTransient: true,
  },
  {
    reason: 'ChartNotFound',
    matches: /no '([^']+)' chart with version matching '([^']*)' found/,
    what: 'the repository has no chart $1 in a version that matches $2',
    remedy: 'publish it, or correct the chart and its version in {places.template}',
  },
  {
    reason: 'ChartNotFound',
    matches: /could not locate a version matching provided version string (\S+)/,
    what: 'the registry has no version of the chart that matches $1',
    remedy: 'push one, or correct the version in {places.template}',
  },
  {
    reason: 'ChartNotFound',
    matches:
      /no chart name found|no chart version found|unable to locate any tags|failed to get 'oci:[^']+'.{0,500}: not found|could not get tags for .{0,500}status code 404/s,
    what: 'the repository has no chart of this name, or not in this version',
    remedy: 'publish it, or correct the chart and its version in {places.template}',
  },
  {
    reason: 'RevisionInvalid',
    matches: /chart version .{0,100}improper constraint: (\S+)/,
    what: '$1 is not a valid version range',
    remedy: 'correct the version of the chart in {places.template}',
  },
  {
    reason: 'AuthenticationFailed',
    matches:
      /basic credential not found|failed to authenticate with the Helm repository|failed to login to OCI registry|chart.{0,500}status code 40[13]\b/s,
    what: 'the registry does not allow Flux to pull the chart',
    remedy: 'put .dockerconfigjson with pull access into the Secret that spec.secretRef of its HelmRepository names',
  },
  {
    reason: 'CredentialsMissing',
    matches: /failed to get (?:TLS )?authentication secret '([^']+)'/,
    what: 'Secret $1 of its HelmRepository does not exist in the shoot',
    remedy: 'create its original, or correct secretRef or certSecretRef of the HelmRepository',
  },
  {
    reason: 'SourceMissing',
    matches: /(?:failed to get source|could not get Source object): (\w+)\S* "([^"]+)" not found/,
    what: '$1 $2 does not exist in the shoot',
    remedy: 'create it, or correct the reference in {places.template}',
  },
  {
    reason: 'SourceNotReady',
    matches: /no artifact available for (\w+) source '([^']+)'/,
    what: '$1 $2 has no artifact yet',
    remedy: 'check $1 $2',
    isTransient: true,
  },
  {
    reason: 'PathNotFound',
    matches: /(?:stat|open) \S+\/source\/(\S*?)(?:\/Chart\.yaml)?: no such file or directory/,
    what: 'the source has no chart in the folder $1',
    remedy: 'add it, or correct the chart in {places.template}',
  },
  {
    reason: 'ValuesMissing',
    matches: /no values file found at path '([^']+)'/,
    what: 'there is no file $1 with values',
    remedy: 'add it, or correct valuesFiles in {places.template}',
  },
  {
    reason: 'ValuesInvalid',
    matches: /unmarshaling values from '([^']+)' failed/,
    what: 'the file $1 is not YAML with values',
    remedy: 'correct it, or valuesFiles in {places.template}',
  },
  {
    reason: 'VerificationFailed',
    matches: /failed to verify (?:the )?signature|no matching signatures/,
    what: 'the signature of the chart is not from a trusted key',
    remedy: 'sign the chart, or correct verify in {places.template}',
  },
  {
    reason: 'ArtifactUnusable',
    matches: /failed to add (?:remote|local) dependency '([^']+)'/,
    what: 'the chart depends on $1, which Flux cannot fetch',
    remedy: 'correct the dependencies in its Chart.yaml, or allow the shoot to reach their repositories',
  },
];

/** Of the chart alone: a HelmRelease also says so about its attempts. */
export const unreachableChart: Failure = {
  reason: 'NotReachable',
  matches: /chart.{0,1000}(?:\bdial tcp|x509: |i\/o timeout|context deadline exceeded|server gave HTTP response)/s,
  what: 'the registry of the chart cannot be reached',
  remedy: 'check url, certSecretRef and insecure of its HelmRepository, and that the shoot can reach the server',
};
