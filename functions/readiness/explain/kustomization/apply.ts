import { type RefusalKind, refusalIn } from '../../../../shared/kube/refusal.ts';
import type { Failure } from '../remedies.ts';

/** Sentences for objects that the API server refuses; an author of the repository can correct them. */
const refusals: Partial<Record<RefusalKind, (object: string, by: string) => [what: string, remedy: string]>> = {
  webhookDenies: (object, by) => [`the admission webhook "${by}" denies ${object}`, 'correct it in the repository'],
  webhookFails: (object, by) => [
    `the admission webhook "${by}" does not respond for ${object}`,
    'fix the webhook, or delete its configuration',
  ],
  policyDenies: (object, by) => [`the policy "${by}" denies ${object}`, 'correct it in the repository'],
  podSecurity: (object, by) => [`${object} violates the Pod Security Standard "${by}"`, 'correct its securityContext'],
  quota: (object, by) => [`the ResourceQuota "${by}" has no room for ${object}`, 'raise the quota, or deploy less'],
  immutable: (object, by) => [
    `${by === '' ? 'a field' : `field ${by}`} of ${object} is immutable`,
    'change it back, or annotate the manifest with kustomize.toolkit.fluxcd.io/force: enabled to recreate the object',
  ],
  managedByOthers: (object, by) => [`"${by}" manages the same fields of ${object}`, 'let only one of the two set them'],
  terminating: (object, by) => [
    `the namespace ${by} of ${object} is being deleted`,
    'check its status for the finalizers that block its deletion, and remove them',
  ],
  notAllowed: (object, by) => [`"${by}" is not allowed to write ${object}`, 'grant it that permission in the shoot'],
  tooLarge: (object) => [`${object} is too large for the API server`, 'reduce its size'],
  invalid: (object, by) => [`the API server rejects ${by} of ${object}`, 'correct it in the repository'],
};

function refused(object: string, message: string): [what: string, remedy: string] {
  const refusal = refusalIn(message);
  const sentence = refusal && refusals[refusal.kind]?.(object, refusal.by ?? '');
  return sentence ?? [`the API server rejects ${object}`, 'correct it in the repository'];
}

/** Matched before everything else. */
export const denials: Failure[] = [
  {
    reason: 'ApplyFailed',
    // First, because webhooks and policies choose their own words, which may match any pattern below.
    matches:
      /^(\S+) (?:dry-run failed|apply failed).*?(?:admission webhook "[^"]+" denied|failed calling webhook|ValidatingAdmissionPolicy '[^']+' with)/s,
    says: (found) => refused(found[1] ?? 'an object', found.input),
  },
];

/** Refusals of the API server, health checks, rights, and pruning. */
export const applyFailures: Failure[] = [
  {
    reason: 'HealthCheckFailed',
    matches:
      /health check failed after \S+ (?:timeout waiting for|failed early due to stalled resources): \[(?:can't determine status for )?(.*?)(?: status: '|\]|, |$)/i,
    says: ([, first], { places }) => [
      `${first} does not become ready`,
      `check its status and events in the shoot, or raise ${places.timeout}`,
    ],
  },
  {
    reason: 'HealthCheckFailed',
    matches: /health check failed|can't determine status for/i,
    says: (_, { places }) => [
      'an applied object does not become ready',
      `check the objects of this Kustomization in the shoot, or correct healthChecks in ${places.template}`,
    ],
  },
  {
    reason: 'HealthCheckCanceled',
    matches: /Health checks canceled|New reconciliation triggered by/,
    says: () => ['a newer revision arrived during the health checks', 'Flux applies that revision next'],
    isTransient: true,
  },
  {
    reason: 'AccessDenied',
    matches: /can't access '([^']+)', /,
    says: ([, name], { places }) => [
      `it is not allowed to use ${name}`,
      `move the source to the namespace of the Kustomization, or correct sourceRef in ${places.template}`,
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
    reason: 'KindUnknown',
    matches: /no matches for kind "([^"]+)" in version "([^"]+)"/,
    says: ([, kind, version]) => [
      `the shoot has no kind ${kind} in ${version}`,
      'deploy its CustomResourceDefinition first, in a separate Kustomization that this one names in dependsOn, or correct the version',
    ],
  },
  {
    reason: 'NamespaceMissing',
    matches: /^(\S+) namespace not specified|namespaces "([^"]+)" not found/,
    says: ([, object, namespace], { places }) =>
      namespace === undefined
        ? [`${object} has no namespace`, `set one in its manifest, or set targetNamespace in ${places.template}`]
        : [`namespace ${namespace} does not exist`, 'add its manifest to the repository'],
  },
  {
    reason: 'ApiServerNotAvailable',
    matches:
      /^(\S+) (?:dry-run failed|apply failed).*(?:connection refused|i\/o timeout|deadline exceeded|etcdserver|currently unable to handle|too many requests|object has been modified|TLS handshake|in the time allotted|client connection lost|unexpected EOF|reset by peer)/is,
    says: ([, object]) => [
      `the API server of the shoot could not process ${object} right now`,
      'Flux retries automatically',
    ],
    isTransient: true,
  },
  {
    reason: 'MigrationNeeded',
    matches: /^(\S+) .*request to convert CR to an invalid group\/version: (\S+)/,
    says: ([, object, version]) => [
      `${object} was last written in ${version}, which the shoot no longer serves`,
      'run "flux migrate" against the shoot',
    ],
  },
  {
    reason: 'ApplyFailed',
    matches: /^(\S+) immutable field detected, failed to /,
    says: ([, object]) => [
      `${object} must be recreated, but cannot be deleted`,
      'check in the shoot what blocks its deletion, for example a finalizer or a webhook',
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
    matches:
      /(?:(?<!\S)(\S+) )?(?:delete failed|prune failed|termination timeout|failed to wait for resources termination)/i,
    says: ([, object]) => [
      `${object ?? 'an object'} was removed from the repository, but cannot be deleted`,
      'check in the shoot what blocks its deletion, for example a finalizer or a webhook',
    ],
  },
];
