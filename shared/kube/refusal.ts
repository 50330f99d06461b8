/** Why an API server rejects an object; `by` names the webhook, quota, field or namespace that is the reason. */
export interface Refusal {
  kind: RefusalKind;
  by?: string | undefined;
}

export type RefusalKind =
  | 'storedVersions'
  | 'webhookDenies'
  | 'webhookFails'
  | 'policyDenies'
  | 'podSecurity'
  | 'quota'
  | 'immutable'
  | 'managedByOthers'
  | 'changedMeanwhile'
  | 'terminating'
  | 'noNamespace'
  | 'notAllowed'
  | 'noKind'
  | 'tooLarge'
  | 'unreachable'
  | 'invalid';

/**
 * Messages of API servers. The first match counts; `by` is the first group. A webhook's message may contain any other
 * pattern, so webhooks are first. A word is matched from its beginning only: tried at each of its letters, a message of
 * 40,000 letters took seconds.
 */
const refusals: [RefusalKind, RegExp][] = [
  ['webhookDenies', /admission webhook "([^"]+)" denied the request/],
  ['webhookFails', /failed calling webhook "([^"]+)"/],
  ['webhookFails', /admission webhook "([^"]+)" does not support dry run/],
  ['policyDenies', /ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied (?:the )?request/],
  // Until Kubernetes 1.31 "must appear in spec.versions".
  [
    'storedVersions',
    /status\.storedVersions\S* Invalid value: "([^"]+)": (?:missing from|must appear in) spec\.versions/,
  ],
  ['podSecurity', /violates PodSecurity "([^"]+)"/],
  ['quota', /exceeded quota: ([^,\s]+)/],
  ['quota', /failed quota: ([^:\s]+): must specify/],
  ['terminating', /unable to create new content in namespace (\S+) because it is being terminated/],
  ['noNamespace', /namespaces "([^"]+)" not found/],
  ['notAllowed', /is forbidden: User "([^"]+)" cannot /],
  ['notAllowed', /is forbidden: user "([^"]+)" .*is attempting to grant RBAC permissions not currently held/s],
  ['immutable', /(?:(?<![\w.[\]])([\w.[\]]+): )?(?:Invalid value: .{0,1000}: |Forbidden: )?field is immutable/],
  [
    'immutable',
    /(?<![\w.[\]])([\w.[\]]+): Forbidden: (?:updates to .* are forbidden|may not change once set|field is immutable|\w+ is immutable after creation)/,
  ],
  ['immutable', /(?<![\w.[\]])([\w.[\]]+): Invalid value: .{0,1000}: [^:]{0,300}\bis immutable\b/i],
  ['managedByOthers', /Apply failed with \d+ conflicts?: conflicts? with "([^"]+)"/],
  ['changedMeanwhile', /the object has been modified; please apply your changes to the latest version/],
  ['noKind', /no matches for kind "([^"]+)" in version/],
  [
    'tooLarge',
    /(?:Request entity|request is) too large|Too long: (?:must have at most|may not be more than) \d+ (?:bytes|characters)/,
  ],
  ['invalid', /\bis invalid: ([^\s:]+): /],
  ['invalid', /strict decoding error: ((?:unknown|duplicate) field "[^"]+")/],
  ['invalid', /failed to create typed patch object \([^)]*\): (?:errors:\s*)?(\.[^\s:]+): /],
  [
    'unreachable',
    /connection refused|no such host|i\/o timeout|context deadline exceeded|TLS handshake timeout|no route to host/,
  ],
];

/** Returns the reason in an API server's message; undefined if the message is unknown. */
export function refusalIn(message: string): Refusal | undefined {
  for (const [kind, pattern] of refusals) {
    const found = pattern.exec(message);
    if (found !== null) return { kind, by: found[1] };
  }
  return undefined;
}
