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

function refused({ 1: object = 'an object', input }: RegExpExecArray): [what: string, remedy: string] {
  const refusal = refusalIn(input);
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
    what: (found) => refused(found)[0],
    remedy: (found) => refused(found)[1],
  },
];

/** An account of the shoot lacks a right: for what a Kustomization or a HelmRelease does. */
export const notAllowed: Failure = {
  reason: 'NotAllowed',
  matches: /is forbidden: User "system:serviceaccount:([^":]+):([^"]+)" cannot (\w+) resource "([^"]+)"/,
  what: 'ServiceAccount $1/$2 is not allowed to $3 $4',
  remedy: 'bind a role with that permission to it in the shoot',
};

/** Refusals of the API server, health checks, rights, and pruning. */
export const applyFailures: Failure[] = [
  {
    reason: 'HealthCheckFailed',
    matches:
      /health check failed after \S+ (?:timeout waiting for|failed early due to stalled resources): \[(?:can't determine status for )?(.*?)(?: status: '|\]|, |$)/i,
    what: '$1 does not become ready',
    remedy: 'check its status and events in the shoot, or raise {places.timeout}',
  },
  {
    reason: 'HealthCheckFailed',
    matches: /health check failed|can't determine status for/i,
    what: 'an applied object does not become ready',
    remedy: 'check the objects of this Kustomization in the shoot, or correct healthChecks in {places.template}',
  },
  {
    reason: 'HealthCheckCanceled',
    matches: /Health checks canceled|New reconciliation triggered by/,
    what: 'a newer revision arrived during the health checks',
    remedy: 'Flux applies that revision next',
    isTransient: true,
  },
  {
    reason: 'AccessDenied',
    matches: /can't access '([^']+)', /,
    what: 'it is not allowed to use $1',
    remedy: 'move the source to the namespace of the Kustomization, or correct sourceRef in {places.template}',
  },
  notAllowed,
  {
    reason: 'KindUnknown',
    matches: /no matches for kind "([^"]+)" in version "([^"]+)"/,
    what: 'the shoot has no kind $1 in $2',
    remedy:
      'deploy its CustomResourceDefinition first, in a separate Kustomization that this one names in dependsOn, or correct the version',
  },
  {
    reason: 'NamespaceMissing',
    matches: /^(\S+) namespace not specified/,
    what: '$1 has no namespace',
    remedy: 'set one in its manifest, or set {places.targetNamespace} to a namespace for all objects',
  },
  {
    reason: 'NamespaceMissing',
    matches: /namespaces "([^"]+)" not found/,
    what: 'namespace $1 does not exist',
    remedy: 'add its manifest to the repository',
  },
  {
    reason: 'ApiServerNotAvailable',
    matches:
      /^(\S+) (?:dry-run failed|apply failed).*(?:connection refused|i\/o timeout|deadline exceeded|etcdserver|currently unable to handle|too many requests|object has been modified|TLS handshake|in the time allotted|client connection lost|unexpected EOF|reset by peer)/is,
    what: 'the API server of the shoot could not process $1 right now',
    remedy: 'Flux retries automatically',
    isTransient: true,
  },
  {
    reason: 'MigrationNeeded',
    matches: /^(\S+) .*request to convert CR to an invalid group\/version: (\S+)/,
    what: '$1 was last written in $2, which the shoot no longer serves',
    remedy: 'run "flux migrate" against the shoot',
  },
  {
    reason: 'ApplyFailed',
    matches: /^(\S+) immutable field detected, failed to /,
    what: '$1 must be recreated, but cannot be deleted',
    remedy: 'check in the shoot what blocks its deletion, for example a finalizer or a webhook',
  },
  {
    reason: 'ApplyFailed',
    matches:
      /^(\S+) (?:dry-run failed|apply failed|not found|metadata\.managedFields cleanup failed|failed to migrate API version|normalization error)/,
    what: (found) => refused(found)[0],
    remedy: (found) => refused(found)[1],
  },
  {
    reason: 'PruneFailed',
    matches:
      /(?:(?<!\S)(\S+) )?(?:delete failed|prune failed|termination timeout|failed to wait for resources termination)/i,
    what: ([, object]) => `${object ?? 'an object'} was removed from the repository, but cannot be deleted`,
    remedy: 'check in the shoot what blocks its deletion, for example a finalizer or a webhook',
  },
];
