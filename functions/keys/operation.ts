import { quote } from '../../shared/config/quote.ts';
import { FLUX_CONFIG } from '../../shared/gardener/project-config.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { type Notice, warning } from './notice.ts';

/** The two phases of a rotation, named as Gardener names those of its own credentials (decision 19). */
export const ROTATE_START = 'rotate-ssh-keypair-start';
export const ROTATE_COMPLETE = 'rotate-ssh-keypair-complete';

export type Operation = typeof ROTATE_START | typeof ROTATE_COMPLETE;

/** How a person asks for it, with `kubectl annotate`. */
export const asked = (operation: Operation) => `${OPERATION_ANNOTATION}=${operation}`;

const annotation = (namespace: string) => `ConfigMap ${namespace}/${FLUX_CONFIG}: annotation ${OPERATION_ANNOTATION}`;

/** What the annotation on `flux-config` asks for; whatever else it says is told and left to whom it may concern. */
export function operationOf(
  namespace: string,
  annotations: Record<string, string> = {},
): { operation?: Operation; notices: Notice[] } {
  const value = annotations[OPERATION_ANNOTATION];
  if (value === undefined) return { notices: [] };
  if (value === ROTATE_START || value === ROTATE_COMPLETE) return { operation: value, notices: [] };
  const known = `${ROTATE_START} or ${ROTATE_COMPLETE}`;
  return {
    notices: [warning('UnknownOperation', `${annotation(namespace)}: is ${quote(value)}; write ${known}.`)],
  };
}

/** An operation that changes nothing, and what has to be done for it to succeed when it is asked for again. */
export function refused(namespace: string, operation: Operation, remedy: string): Notice {
  return warning('KeyRotationRefused', `${annotation(namespace)}: ${operation} has changed nothing: ${remedy}.`);
}
