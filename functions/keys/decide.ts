import { TRUSTED_HOST_KEY } from './annotations.ts';
import { decideKnownHosts } from './known-hosts.ts';
import type { Notice } from './notice.ts';
import { decideKeyPairs, invalidSecret } from './pairs.ts';
import type { Need, Situation } from './situation.ts';

/** The fields of the Secret to write; `null` removes one. */
export interface SecretChange {
  data: Record<string, string | null>;
  annotations: Record<string, string | null>;
}

/** What the function does next about a project's key pair and host keys. */
export type Decision =
  /** Obtain this, then decide again. */
  | { type: 'needs'; what: Need }
  /** Write the change, report the notices, and run again later when `retry`. */
  | { type: 'decided'; change?: SecretChange | undefined; notices: Notice[]; retry: boolean };

/**
 * Decides what to write to the Secret and what to report. An existing key is only replaced by a requested rotation; an
 * invalid Secret is reported and left unchanged.
 */
export function decide(situation: Situation): Decision {
  const pairs = decideKeyPairs(situation);
  if ('what' in pairs) return { type: 'needs', what: pairs.what };
  if ('problem' in pairs) return { type: 'decided', notices: invalidSecret(situation, pairs.problem), retry: false };
  const hosts = decideKnownHosts(situation);
  if ('what' in hosts) return { type: 'needs', what: hosts.what };

  const change = differenceTo(situation.secret, {
    data: { ...pairs.data, ...(hosts.knownHosts !== undefined && { known_hosts: hosts.knownHosts }) },
    annotations: { ...pairs.annotations, [TRUSTED_HOST_KEY]: hosts.trusted ?? null },
  });
  if (change !== undefined && situation.secret?.immutable === true) {
    const problem = 'is immutable but has to change; recreate it without "immutable"';
    return { type: 'decided', notices: invalidSecret(situation, problem), retry: false };
  }
  return { type: 'decided', change, notices: [...pairs.notices, ...hosts.notices], retry: hosts.retry };
}

function differenceTo(secret: Situation['secret'], { data, annotations }: SecretChange): SecretChange | undefined {
  const changed = Object.entries(annotations).filter(([name, value]) => (secret?.annotations[name] ?? null) !== value);
  if (Object.keys(data).length === 0 && changed.length === 0) return undefined;
  return { data, annotations: Object.fromEntries(changed) };
}
