import { RETRYABLE_CONFIGURATION_PROBLEM } from '../gardener/error-codes.ts';
import type { KubeObject } from '../kube/resource.ts';
import { safeText } from '../runtime/safe-text.ts';
import type { Failure } from './failure.ts';
import { kustomizationFailures } from './kustomization-failures.ts';
import { nameOf, type Origin, remediesFor } from './remedies.ts';
import { sourceFailures } from './source-failures.ts';

/** Why a source or Kustomization is not Ready, for the people who can mend it. */
export interface Explanation {
  /** For the condition; undefined where the message is none of the known ones. */
  reason?: string | undefined;
  /** One sentence: the object, what is wrong, the remedy; then what Flux says. */
  message: string;
  /** Where somebody has to mend something. */
  codes: string[];
}

/**
 * Pure: from what Flux says of an object to one sentence with the remedy, the original behind it.
 * @param message of its condition Ready or Stalled
 */
export function explain(object: KubeObject, message: string, origin: Origin): Explanation {
  const told = mayQuoteSecret(message) ? 'the message is withheld, it may quote a Secret' : safeText(message);
  const failures = object.kind === 'Kustomization' ? kustomizationFailures : sourceFailures;
  for (const failure of failures) {
    const found = appliesTo(failure, object.kind) ? failure.matches.exec(message) : null;
    if (found === null) continue;
    const [what, remedy] = failure.says(found, remediesFor(object, origin));
    // What is taken out of the message may be long, and hold what must not be seen.
    const sentence = safeText(`${nameOf(object)}: ${what}; ${remedy}.`, 600);
    const codes = failure.isTransient ? [] : [RETRYABLE_CONFIGURATION_PROBLEM];
    return { reason: failure.reason, message: `${sentence} Flux says: ${told}`, codes };
  }
  return { message: `${nameOf(object)}: ${told}`, codes: [] };
}

function appliesTo({ kinds }: Failure, kind: string): boolean {
  return kinds === undefined || kinds.includes(kind);
}

/** A webhook that refuses a Secret of the repository chooses its words itself. */
function mayQuoteSecret(message: string): boolean {
  return /^Secret\/\S+ .*denied/s.test(message);
}
