import type { SyncMode } from '../../shared/config/effective.ts';
import type { Extension } from '../../shared/gardener/types.ts';

/** Which parts of the configuration still reach the shoot; Secrets and `shoot-info` always do (design 5). */
export interface Followed {
  /** CRDs and controllers. */
  install: boolean;
  /** Sources and Kustomizations. */
  sync: boolean;
}

/** Until the first success everything is followed in every mode, or a typo in the first config could not be mended. */
export function followed(mode: SyncMode, bootstrapped: boolean): Followed {
  if (!bootstrapped) return { install: true, sync: true };
  return { install: mode === 'Reconcile', sync: mode !== 'Once' };
}

/**
 * True after the first success. The Go extension of stackitcloud recorded it as a condition, which is honoured when a
 * Shoot comes from there.
 */
export function isBootstrapped(extension: Extension): boolean {
  if (extension.status?.state?.bootstrapped !== undefined) return true;
  return (
    extension.status?.conditions?.some(({ type, status }) => type === 'FluxBootstrapped' && status === 'True') ?? false
  );
}
