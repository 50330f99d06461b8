import type { Cause } from '../shared/runtime/change-request.ts';

/** Returns what a cause is about: its object, or for all others their type. */
export function originOf(cause: Cause): string {
  return cause.type === 'object'
    ? JSON.stringify([cause.cluster, cause.kind, cause.namespace, cause.name])
    : cause.type;
}
