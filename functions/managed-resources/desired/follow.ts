import type { SyncMode } from '../../../shared/config/effective.ts';
import { installDefaults } from '../../../shared/config/flux-options.ts';
import type { ConfigIssue } from '../../../shared/errors.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, Extension } from '../../../shared/gardener/types.ts';

/** Which parts of the configuration still reach the shoot; Secrets and `shoot-info` always do (design 5). */
export interface Followed {
  /** CRDs and controllers. */
  install: boolean;
  /** Sources and Kustomizations. */
  sync: boolean;
}

/**
 * Until the first success everything is followed in every mode, or a typo in the first config could not be mended.
 * @param previous what was applied last: while something of it is on its way out, sources and Kustomizations are not let
 * go, or it would stay in the shoot for ever, suspended
 */
export function followed(mode: SyncMode, bootstrapped: boolean, previous: Applied | undefined): Followed {
  if (!bootstrapped) return { install: true, sync: true };
  const isLeaving = (previous?.leaving?.length ?? 0) > 0;
  return { install: mode === 'Reconcile', sync: mode !== 'Once' || isLeaving };
}

/** The ManagedResources that are let go, because their objects no longer follow. */
export function unfollowedNames(follow: Followed): string[] {
  return [...(follow.install ? [] : [names.crds, names.controllers]), ...(follow.sync ? [] : [names.sync])];
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

/** Where the layers say how Flux is installed: `flux` in a providerConfig, keys of their own in `flux-config`. */
const installParts = new Set([
  'flux',
  'fluxVersion',
  'componentsExtra',
  'imagePullSecret',
  ...Object.keys(installDefaults),
]);

/** True when all that is wrong lies in parts that no longer reach the shoot: it must not fail the Shoot (design 5). */
export function isUnfollowed(issues: ConfigIssue[], follow: Followed): boolean {
  const parts = issues.map(({ path }) => path.split(/[.[]/)[0] ?? '');
  // What is copied follows in every mode.
  if (!follow.sync) return !parts.includes('additionalSecretResources');
  return !follow.install && parts.every((part) => installParts.has(part));
}
