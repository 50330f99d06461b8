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
    says: ([, kind, name, key], { places }) => [
      `key ${key} of ${kind} ${name} is not YAML with values`,
      `correct it, or valuesFrom in ${places.template}`,
    ],
  },
  {
    reason: 'ValuesMissing',
    matches: /could not resolve (Secret|ConfigMap) chart values reference '([^']+)' with key '([^']+)'/,
    says: ([, kind, name, key], { places }) => [
      `it takes values from key ${key} of ${kind} ${name}, which Flux cannot read`,
      `add the key to the original of the ${kind}, or correct valuesFrom in ${places.template}`,
    ],
  },
  {
    reason: 'DependencyNotReady',
    matches: /unable to get '([^']+)' dependency: .{0,300}not found/s,
    says: ([, name], { places }) => [
      `it depends on HelmRelease ${name}, which does not exist`,
      `create it, or correct dependsOn in ${places.template}`,
    ],
    isTransient: true,
  },
  {
    reason: 'DependencyNotReady',
    matches: /dependency '([^']+)' is not ready/,
    says: ([, name]) => [`it depends on HelmRelease ${name}, which is not ready`, `check HelmRelease ${name}`],
    isTransient: true,
  },
  {
    reason: 'ExpressionInvalid',
    matches: /failed to (?:evaluate dependency|parse the CEL expression|create custom status evaluator)/,
    says: (_, { places }) => [
      'a CEL expression is invalid',
      `correct readyExpr of dependsOn, or healthCheckExprs, in ${places.template}`,
    ],
  },
  {
    reason: 'KubeConfigUnusable',
    matches: /KubeConfig secret '([^']+)'/,
    says: ([, name], { places }) => [
      `the kubeconfig in Secret ${name} cannot be used`,
      `create the Secret with a kubeconfig in key value, or correct kubeConfig in ${places.template}`,
    ],
  },
  {
    reason: 'NotAllowed',
    matches: /is forbidden: User "system:serviceaccount:([^":]+):([^"]+)" cannot (\w+) resource "([^"]+)"/,
    says: ([, namespace, name, verb, resource]) => [
      `ServiceAccount ${namespace}/${name} is not allowed to ${verb} ${resource}`,
      'bind a role with that permission to it in the shoot',
    ],
  },
  {
    reason: 'SourceNotReady',
    matches: /(HelmChart|OCIRepository) '([^']+)' is not ready/,
    says: ([, kind, name]) => [`${kind} ${name} is not ready`, 'what follows says why'],
    isTransient: true,
  },
  {
    reason: 'ArtifactUnusable',
    matches: /Could not load chart: /,
    says: (_, { places }) => [
      'the artifact is not a chart that Helm can load',
      `correct the chart or chartRef in ${places.template}, or layerSelector of the OCIRepository`,
    ],
  },
];

/** Releases of Helm: the attempt itself. */
const releaseFailures: Failure[] = [
  {
    reason: 'ReleaseFailed',
    matches:
      /Helm (\w+) failed for release (\S+).{0,500}?(?:context deadline exceeded|timed out waiting|timeout waiting for)/s,
    says: (found, { places }) => [
      `the objects of release ${found[2]} did not become ready during its ${found[1]}${stopped(found)}`,
      `check its Pods, Jobs and volumes in the shoot, or raise ${places.timeout}`,
    ],
  },
  {
    reason: 'ReleaseFailed',
    matches:
      /Helm \w+ failed for release (\S+).{0,500}?(?:executing "|execution error at|values don't meet the specifications of the schema|MalformedYAML|YAML parse error)/s,
    says: (found, { places }) => [
      `the chart of release ${found[1]} cannot be rendered with these values${stopped(found)}`,
      `correct values and valuesFrom in ${places.template}`,
    ],
  },
  {
    reason: 'ReleaseFailed',
    matches: /Helm \w+ failed for release (\S+).{0,500}?error while running post render/s,
    says: (found, { places }) => [
      `the post-renderer of release ${found[1]} fails${stopped(found)}`,
      `correct postRenderers in ${places.template}`,
    ],
  },
  {
    reason: 'KindUnknown',
    matches: /Helm \w+ failed.{0,500}?no matches for kind "([^"]+)" in version "([^"]+)"/s,
    says: (found, { places }) => [
      `the shoot has no kind ${found[1]} in ${found[2]}${stopped(found)}`,
      `deploy its CustomResourceDefinition first, in a HelmRelease that this one names in dependsOn, or correct the chart in ${places.template}`,
    ],
  },
  {
    reason: 'NamespaceMissing',
    matches: /Helm \w+ failed.{0,500}?namespaces "([^"]+)" not found/s,
    says: (found, { places }) => [
      `namespace ${found[1]} does not exist${stopped(found)}`,
      `create it, or set install.createNamespace for a target namespace in ${places.template}`,
    ],
  },
  {
    reason: 'ReleaseFailed',
    matches: /Helm (\w+) failed for release (\S+)/,
    says: (found, { places }) => [
      `Helm reports a failure of the ${found[1]} of release ${found[2]}${stopped(found)}`,
      `correct what the message names, with the chart or its values in ${places.template}`,
    ],
  },
  {
    reason: 'RetriesExceeded',
    matches: /exceeded maximum retries|missing target release for rollback|Failed to \w+ after \d+ attempt/,
    says: (_, { places }) => [
      'the release has failed too often, and Flux no longer tries',
      `correct its values, or allow retries with install.remediation and upgrade.remediation, in ${places.template}`,
    ],
  },
];

const ofRelease = (failures: Failure[]): Failure[] => failures.map((one) => ({ ...one, kinds: ['HelmRelease'] }));

/** Charts and releases of Helm, in the order of matching: what a chart says comes before "is not ready". */
export const helmFailures: Failure[] = [
  ...ofRelease(releaseFailures),
  ...chartFailures,
  ...ofRelease(prerequisiteFailures),
];
