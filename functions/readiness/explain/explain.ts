import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { beginOf, safeText } from '../../../shared/runtime/safe-text.ts';
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
 * @param whole the message of its condition Ready or Stalled
 */
export function explain(object: KubeObject, whole: string, origin: Origin): Explanation {
  const message = beginOf(whole);
  const told = mayQuoteSecret(message)
    ? 'the message is withheld, it may quote a Secret'
    : safeText(withoutValues(object, message));
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

/**
 * Webhooks choose their words themselves, and API servers quote what they cannot read of a Secret. Of a manifest
 * without a name kustomize-controller quotes all, whatever it is.
 */
function mayQuoteSecret(message: string): boolean {
  return (
    /^Secret\/\S+ .*(?:denied|Invalid value|typed patch object|unmarshal|decod)/s.test(message) ||
    message.includes('failed to decode Kubernetes apiVersion, kind and name from')
  );
}

/** API servers quote the values that they do not accept; what is filled in or decrypted is for nobody's eyes. */
function withoutValues({ spec }: KubeObject, message: string): string {
  const { decryption, postBuild } = (spec ?? {}) as KustomizationSpec;
  const isSecret = decryption !== undefined || postBuild?.substituteFrom?.some(({ kind }) => kind === 'Secret');
  if (!isSecret) return message;
  return message
    .replace(/((?:Invalid|Unsupported|Duplicate) value: )(?:"(?:\\.|[^"\\])*"|\{.*?\}(?=: )|[^\s:]+)/gs, '$1"***"')
    .replace(/(valueUnstructured\{Value:).*/gs, '$1***')
    .replace(/(unknown anchor )'[^']*'|(cannot unmarshal \S+ )`[^`]*`/g, '$1$2***');
}

interface KustomizationSpec {
  decryption?: unknown;
  postBuild?: { substituteFrom?: { kind?: string }[] };
}
