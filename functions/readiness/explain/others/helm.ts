import { notAllowed } from '../kustomization/apply.ts';
import type { Failure } from '../remedies.ts';
import { chartFailures } from './charts.ts';

/** An attempt that failed as often as it may. */
const stopped = ({ input }: RegExpExecArray) =>
  /^Failed to \w+ after \d+ attempt|exceeded maximum retries/.test(input) ? ', and Flux no longer tries' : '';

/** Releases of Helm: before an attempt. */
const prerequisiteFailures: Failure[] = [
  {
    reason: 'ValuesInvalid',
    matches:
      /could not resolve (\w+) chart values reference '([^']+)' with key '([^']+)': error (?:converting|unmarshaling)/,
    what: 'key $3 of $1 $2 is not YAML with values',
    remedy: 'correct it, or valuesFrom in {places.template}',
  },
  {
    reason: 'ValuesMissing',
    matches: /could not resolve (Secret|ConfigMap) chart values reference '([^']+)' with key '([^']+)'/,
    what: 'it takes values from key $3 of $1 $2, which Flux cannot read',
    remedy: 'add the key to the original of the $1, or correct valuesFrom in {places.template}',
  },
  {
    reason: 'DependencyNotReady',
    matches: /unable to get '([^']+)' dependency: .{0,300}not found/s,
    what: 'it depends on HelmRelease $1, which does not exist',
    remedy: 'create it, or correct dependsOn in {places.template}',
    isTransient: true,
  },
  {
    reason: 'DependencyNotReady',
    matches: /dependency '([^']+)' is not ready/,
    what: 'it depends on HelmRelease $1, which is not ready',
    remedy: 'check HelmRelease $1',
    isTransient: true,
  },
  {
    reason: 'ExpressionInvalid',
    matches: /failed to (?:evaluate dependency|parse the CEL expression|create custom status evaluator)/,
    what: 'a CEL expression is invalid',
    remedy: 'correct readyExpr of dependsOn, or healthCheckExprs, in {places.template}',
  },
  {
    reason: 'KubeConfigUnusable',
    matches: /KubeConfig secret '([^']+)'/,
    what: 'the kubeconfig in Secret $1 cannot be used',
    remedy: 'create the Secret with a kubeconfig in key value, or correct kubeConfig in {places.template}',
  },
  notAllowed,
  {
    reason: 'SourceNotReady',
    matches: /(HelmChart|OCIRepository) '([^']+)' is not ready/,
    what: '$1 $2 is not ready',
    remedy: 'what follows says why',
    isTransient: true,
  },
  {
    reason: 'ArtifactUnusable',
    matches: /Could not load chart: /,
    what: 'the artifact is not a chart that Helm can load',
    remedy: 'correct the chart or chartRef in {places.template}, or layerSelector of the OCIRepository',
  },
];

/** Releases of Helm: the attempt itself. */
const releaseFailures: Failure[] = [
  {
    reason: 'ReleaseFailed',
    matches:
      /Helm (\w+) failed for release (\S+).{0,500}?(?:context deadline exceeded|timed out waiting|timeout waiting for)/s,
    what: (found) => `the objects of release ${found[2]} did not become ready during its ${found[1]}${stopped(found)}`,
    remedy: 'check its Pods, Jobs and volumes in the shoot, or raise {places.timeout}',
  },
  {
    reason: 'ReleaseFailed',
    matches:
      /Helm \w+ failed for release (\S+).{0,500}?(?:executing "|execution error at|values don't meet the specifications of the schema|MalformedYAML|YAML parse error)/s,
    what: (found) => `the chart of release ${found[1]} cannot be rendered with these values${stopped(found)}`,
    remedy: 'correct values and valuesFrom in {places.template}',
  },
  {
    reason: 'ReleaseFailed',
    matches:
      /Helm \w+ failed.{0,500}?chart requires kubeVersion: (.{1,60}?) which is incompatible with Kubernetes (\S+)/s,
    what: (found) => `the chart needs Kubernetes ${found[1]}, and the shoot has ${found[2]}${stopped(found)}`,
    remedy: 'choose a version of the chart for it in {places.template}, or update the Kubernetes of the Shoot',
  },
  {
    reason: 'ReleaseFailed',
    matches: /Helm \w+ failed.{0,500}?(\w+) "([^"]+)" in namespace "([^"]*)" exists and cannot be imported/s,
    what: (found) =>
      `${found[1]} ${found[3] && `${found[3]}/`}${found[2]} exists and belongs to no release or to another one${stopped(found)}`,
    remedy: 'remove it from what else deploys it, or from the chart with values in {places.template}',
  },
  {
    reason: 'ReleaseFailed',
    matches: /Helm \w+ failed for release (\S+).{0,500}?error while running post render/s,
    what: (found) => `the post-renderer of release ${found[1]} fails${stopped(found)}`,
    remedy: 'correct postRenderers in {places.template}',
  },
  {
    reason: 'KindUnknown',
    matches: /Helm \w+ failed.{0,500}?no matches for kind "([^"]+)" in version "([^"]+)"/s,
    what: (found) => `the shoot has no kind ${found[1]} in ${found[2]}${stopped(found)}`,
    remedy:
      'deploy its CustomResourceDefinition first, in a HelmRelease that this one names in dependsOn, or correct the chart in {places.template}',
  },
  {
    reason: 'NamespaceMissing',
    matches: /Helm \w+ failed.{0,500}?namespaces "([^"]+)" not found/s,
    what: (found) => `namespace ${found[1]} does not exist${stopped(found)}`,
    remedy: 'create it, or set install.createNamespace for a target namespace in {places.template}',
  },
  {
    reason: 'ReleaseFailed',
    matches: /Helm (\w+) failed for release (\S+)/,
    what: (found) => `Helm reports a failure of the ${found[1]} of release ${found[2]}${stopped(found)}`,
    remedy: 'correct what the message names, with the chart or its values in {places.template}',
  },
  {
    reason: 'RetriesExceeded',
    matches: /exceeded maximum retries|missing target release for rollback|Failed to \w+ after \d+ attempt/,
    what: 'the release has failed too often, and Flux no longer tries',
    remedy:
      'correct its values, or allow retries with install.remediation and upgrade.remediation, in {places.template}',
  },
];

/** In the order of matching: what a chart says comes before "is not ready". */
export const helmReleaseFailures: Failure[] = [...releaseFailures, ...chartFailures, ...prerequisiteFailures];
