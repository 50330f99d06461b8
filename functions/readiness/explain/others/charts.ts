import type { Failure } from '../remedies.ts';

/** Charts of Helm. A HelmRelease repeats the message of the HelmChart that it waits for. */
export const chartFailures: Failure[] = [
  {
    reason: 'ChartNotFound',
    matches: /no '([^']+)' chart with version matching '([^']*)' found/,
    says: ([, name, version], { places }) => [
      `the repository has no chart ${name} in a version that matches ${version}`,
      `publish it, or correct the chart and its version in ${places.template}`,
    ],
  },
  {
    reason: 'ChartNotFound',
    matches: /could not locate a version matching provided version string (\S+)/,
    says: ([, version], { places }) => [
      `the registry has no version of the chart that matches ${version}`,
      `push one, or correct the version in ${places.template}`,
    ],
  },
  {
    reason: 'ChartNotFound',
    matches:
      /no chart name found|failed to get 'oci:[^']+'.{0,500}: not found|could not get tags for .{0,500}status code 404/s,
    says: (_, { places }) => [
      'the repository has no chart of this name, or not in this version',
      `publish it, or correct the chart and its version in ${places.template}`,
    ],
  },
  {
    reason: 'RevisionInvalid',
    matches: /chart version .{0,100}improper constraint: (\S+)/,
    says: ([, range], { places }) => [
      `${range} is not a valid version range`,
      `correct the version of the chart in ${places.template}`,
    ],
  },
  {
    reason: 'AuthenticationFailed',
    matches:
      /basic credential not found|failed to authenticate with the Helm repository|chart.{0,500}status code 40[13]\b/s,
    says: () => [
      'the registry does not allow Flux to pull the chart',
      'put .dockerconfigjson with pull access into the Secret that spec.secretRef of its HelmRepository names',
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches: /failed to get (?:TLS )?authentication secret '([^']+)'/,
    says: ([, name]) => [
      `Secret ${name} of its HelmRepository does not exist in the shoot`,
      'create its original, or correct secretRef or certSecretRef of the HelmRepository',
    ],
  },
  {
    reason: 'SourceMissing',
    matches: /(?:failed to get source|could not get Source object): (\w+)\S* "([^"]+)" not found/,
    says: ([, kind, name], { places }) => [
      `${kind} ${name} does not exist in the shoot`,
      `create it, or correct the reference in ${places.template}`,
    ],
  },
  {
    reason: 'SourceNotReady',
    matches: /no artifact available for (\w+) source '([^']+)'/,
    says: ([, kind, name]) => [`${kind} ${name} has no artifact yet`, `check ${kind} ${name}`],
    isTransient: true,
  },
  {
    reason: 'PathNotFound',
    matches: /(?:stat|open) \S+\/source\/(\S*?)(?:\/Chart\.yaml)?: no such file or directory/,
    says: ([, folder], { places }) => [
      `the source has no chart in the folder ${folder}`,
      `add it, or correct the chart in ${places.template}`,
    ],
  },
  {
    reason: 'ValuesMissing',
    matches: /no values file found at path '([^']+)'/,
    says: ([, path], { places }) => [
      `there is no file ${path} with values`,
      `add it, or correct valuesFiles in ${places.template}`,
    ],
  },
  {
    reason: 'VerificationFailed',
    matches: /failed to verify (?:the )?signature|no matching signatures/,
    says: (_, { places }) => [
      'the signature of the chart is not from a trusted key',
      `sign the chart, or correct verify in ${places.template}`,
    ],
  },
  {
    reason: 'NotReachable',
    matches: /chart.{0,1000}(?:\bdial tcp|x509: |i\/o timeout|context deadline exceeded|server gave HTTP response)/s,
    kinds: ['HelmChart'],
    says: () => [
      'the registry of the chart cannot be reached',
      'check url, certSecretRef and insecure of its HelmRepository, and that the shoot can reach the server',
    ],
  },
];
