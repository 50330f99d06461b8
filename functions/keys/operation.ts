import { FLUX_CONFIG } from '../../shared/config/project-config.ts';
import { quote } from '../../shared/config/quote.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import { type Notice, warning } from './notice.ts';

/** The two phases of a rotation, named like those of Gardener's own credentials (decision 19). */
export const ROTATE_START = 'rotate-ssh-keypair-start';
export const ROTATE_COMPLETE = 'rotate-ssh-keypair-complete';

/** A phase of a rotation that a user has requested. */
export type Operation = typeof ROTATE_START | typeof ROTATE_COMPLETE;

/** Returns the annotation that requests the operation, as an argument of `kubectl annotate`. */
export const annotationFor = (operation: Operation) => `${OPERATION_ANNOTATION}=${operation}`;

const place = (namespace: string) => `ConfigMap ${namespace}/${FLUX_CONFIG}: annotation ${OPERATION_ANNOTATION}`;

/** Returns the operation that the annotation on `flux-config` requests; any other value is reported and left there. */
export function operationOf(
  namespace: string,
  annotations: Record<string, string> = {},
): { operation?: Operation; notices: Notice[] } {
  const value = annotations[OPERATION_ANNOTATION];
  if (value === undefined) return { notices: [] };
  if (value === ROTATE_START || value === ROTATE_COMPLETE) return { operation: value, notices: [] };
  const supported = `${ROTATE_START} or ${ROTATE_COMPLETE}`;
  return {
    notices: [
      warning('UnknownOperation', `${place(namespace)} has the unknown value ${quote(value)}; use ${supported}.`),
    ],
  };
}

/** Reports that a requested operation was ignored, with the reason and the remedy. */
export function operationRefused(namespace: string, operation: Operation, why: string): Notice {
  const message = `ConfigMap ${namespace}/${FLUX_CONFIG}: ${operation} was ignored: ${why}.`;
  return warning('KeyRotationRefused', message);
}
