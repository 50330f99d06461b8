import { type ConfigError, withFullStop } from '../../../shared/errors.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { ForeignFlux } from './foreign.ts';
import { areOutOfScope, type Scope } from './scope.ts';

/** Why a reconciliation ends without a delivery. */
export type Obstacle =
  /** The user has to correct the configuration. */
  | { type: 'reject'; error: ConfigError }
  /** The last applied objects stay unchanged, except those out of scope, which are released; and why. */
  | { type: 'keep'; record: Applied; scope: Scope; problem: string }
  /** Others manage the Flux in the shoot. There is a record if it was ours before. */
  | { type: 'foreign'; foreign: ForeignFlux; record: Applied | undefined; scope: Scope }
  /** Something that the configuration names is not there yet. */
  | { type: 'wait'; sentence: string }
  /** The content of a ManagedResource is unreadable. */
  | { type: 'recreate'; resource: ManagedResource };

/**
 * Decides whether an error of the configuration fails the operation: not when it is in a part that is out of scope, and
 * not when only the operators' policy has changed (decision 43).
 * @param record the last record; with the configured sync mode, where that is known and releases more
 * @param isUnedited true when a running Shoot asks for what was accepted before
 */
export function obstacleOf(
  error: ConfigError,
  record: Applied | undefined,
  scope: Scope,
  isUnedited: boolean,
): Obstacle {
  const isOfPolicy = error.issues.every(({ rule }) => rule !== undefined);
  const isKept = areOutOfScope(error.issues, scope) || (isOfPolicy && isUnedited);
  if (record === undefined || !isKept) return { type: 'reject', error };
  return { type: 'keep', record, scope, problem: withFullStop(error.message) };
}
