import { fluxSchema, syncModes } from '../../../shared/config/flux-options.ts';
import type { SyncMode } from '../../../shared/config/types.ts';
import { type ConfigError, type ConfigIssue, withFullStop } from '../../../shared/errors.ts';
import { findCondition } from '../../../shared/gardener/checked.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, Extension, ManagedResource } from '../../../shared/gardener/types.ts';

/** Which parts of the configuration still reach the shoot; Secrets and ConfigMaps always do. */
export interface Scope {
  /** CRDs and controllers. */
  install: boolean;
  /** Sources and Kustomizations. */
  sync: boolean;
}

/**
 * Decides what follows the configuration. Until the first success everything does: a typo could never be corrected.
 * @param previous the last record: while some of its objects are pending removal, or all are suspended, sources and
 * Kustomizations stay in scope; released now, these objects would stay in the shoot, suspended
 */
export function updateScope(mode: SyncMode, isBootstrapped: boolean, previous: Applied | undefined): Scope {
  if (!isBootstrapped) return { install: true, sync: true };
  const hasSuspended = (previous?.leaving?.length ?? 0) > 0 || previous?.suspension !== undefined;
  return { install: mode === 'Reconcile', sync: mode !== 'Once' || hasSuspended };
}

/**
 * Returns the record of a configuration that is not applied, with its sync mode where that releases more than the last
 * one: recorded as followed, what the last one has released would count as ours.
 */
export function withKeptMode(previous: Applied, mode: SyncMode): Applied {
  const syncMode = syncModes.find((one) => one === mode || one === previous.syncMode) ?? mode;
  return { ...previous, syncMode };
}

/** The names of the ManagedResources to release, because their objects no longer follow the configuration. */
export function namesOutOfScope(scope: Scope): string[] {
  return [...(scope.install ? [] : [names.crds, names.controllers]), ...(scope.sync ? [] : [names.sync])];
}

/** Returns a ManagedResource that still manages its objects: one that is being deleted is on its way out. */
export function managing(live: ReadonlyMap<string, ManagedResource>, name: string): ManagedResource | undefined {
  const resource = live.get(name);
  return resource?.metadata.deletionTimestamp === undefined ? resource : undefined;
}

/** True after the first success, which the Go extension of stackitcloud recorded as a condition. */
export function isBootstrapped({ status = {} }: Extension): boolean {
  return status.state?.bootstrapped !== undefined || findCondition(status, 'FluxBootstrapped')?.status === 'True';
}

/** `sopsAgeSecret` is about the root Kustomization. */
const { sopsAgeSecret: _, ...installOptions } = fluxSchema.shape;

/** Where the layers configure the installation: `flux` in a providerConfig, separate keys in `flux-config`. */
const installParts = new Set(['flux', 'fluxVersion', ...Object.keys(installOptions)]);

/** Where a whole FluxConfig is in the ConfigMap `flux-config`. */
const OF_PROJECT = /^(config\.yaml|overrides\.yaml\[\d+\]\.config)\./;

/** True when all issues lie in parts that no longer reach the shoot: these must not fail the Shoot. */
export function areOutOfScope(issues: ConfigIssue[], scope: Scope): boolean {
  const parts = issues.map(({ path }) => path.replace(OF_PROJECT, '').split(/[.[]/)[0] ?? '');
  // Copied Secrets and ConfigMaps follow in every mode.
  if (!scope.sync) return !parts.includes('additionalSecretResources');
  return !scope.install && parts.every((part) => installParts.has(part));
}

/** Why a reconciliation ends without a delivery. */
export type Obstacle =
  /** The user has to correct the configuration. */
  | { type: 'reject'; error: ConfigError }
  /** The last applied objects stay unchanged, except those out of scope, which are released; and why. */
  | { type: 'keep'; record: Applied; scope: Scope; problem: string }
  /** Others manage the Flux in the shoot, so it is out of scope. There is a record if it was ours before. */
  | { type: 'foreign'; foreign: string; record: Applied | undefined; scope: Scope }
  /** Something that the configuration names is not there yet. */
  | { type: 'wait'; sentence: string }
  /** The content of a ManagedResource is unreadable. */
  | { type: 'recreate'; resource: ManagedResource };

/**
 * Decides whether an error of the configuration fails the operation: not in a part that is out of scope, and not when
 * only the operators' policy has changed (decision 43).
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
