import { RetryableError } from '../../shared/errors.ts';
import { GARDEN, type ReconcileKey } from '../../shared/runtime/key.ts';

/**
 * A change for a seed that this process does not serve: another one does, or will in a moment, because a deployment is
 * just getting or losing a seed.
 */
export class NotServedError extends RetryableError {
  override name = 'NotServedError';

  constructor(seed: string, served: string[]) {
    super(
      `This process does not serve seed ${seed}, only ${served.join(', ') || 'none'}; add it with --seed or SEEDS, or ` +
        'use another queue prefix.',
    );
  }
}

/** How long such a change waits before any process takes it again; so the last of 40 attempts is after 20 minutes. */
export const NOT_SERVED_SECONDS = 30;

/** Returns whether a process that serves these seeds can run a function for the key. */
export function isServed({ cluster }: ReconcileKey, seeds: string[]): boolean {
  return cluster === GARDEN || seeds.includes(cluster);
}
