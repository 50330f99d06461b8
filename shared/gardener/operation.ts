import {
  type Extension,
  type LastError,
  type LastOperation,
  OPERATION_ANNOTATION,
  type OperationType,
  type Shoot,
  TIMESTAMP_ANNOTATION,
} from './types.ts';

/** How `managed-resources` ends an operation of a hibernated Shoot. */
export const HIBERNATED = 'The Shoot is hibernated; changes are applied when it wakes up.';

/** True while neither the API server of the shoot nor Flux is running, or both are only starting (traps 17, 34). */
export function isHibernated({ spec, status }: Shoot): boolean {
  return spec?.hibernation?.enabled === true || status?.hibernated === true;
}

const progress = { Processing: 1, Error: 50, Succeeded: 100 } as const;

/** A report of an operation. */
export interface OperationReport {
  type: OperationType;
  state: keyof typeof progress;
  description: string;
  /** With state Error; all codes are retryable (trap 21). */
  error?: { description: string; codes?: string[] | undefined };
}

/**
 * Returns the status fields that report an operation; undefined when the status already shows exactly this report.
 * Processing and Succeeded clear `lastError` (trap 3). `lastUpdateTime` is never before gardenlet's timestamp annotation,
 * because gardenlet compares the two by seconds (rule 1.5, trap 5).
 */
export function operationStatus(
  extension: Extension,
  report: OperationReport,
  now: Date,
): Record<string, unknown> | undefined {
  const last = extension.status?.lastOperation;
  const lastError = extension.status?.lastError ?? null;
  const stamp = timestampOf(extension);
  const reported =
    last?.type === report.type &&
    last.state === report.state &&
    last.description === report.description &&
    last.progress === progress[report.state] &&
    Date.parse(last.lastUpdateTime) >= stamp &&
    sameError(lastError, report.error);
  const generation = extension.metadata.generation ?? 0;
  const observes = report.state !== 'Processing';
  if (reported && (!observes || extension.status?.observedGeneration === generation)) return undefined;

  const time = seconds(Math.max(now.getTime(), stamp));
  const lastOperation: LastOperation = {
    type: report.type,
    state: report.state,
    progress: progress[report.state],
    description: report.description,
    lastUpdateTime: time,
  };
  return {
    lastOperation,
    lastError: report.error === undefined ? null : { ...report.error, lastUpdateTime: time },
    ...(observes ? { observedGeneration: generation } : {}),
  };
}

const operations = ['reconcile', 'migrate', 'restore'] as const;

/** Returns the operation that gardenlet or a user asks for. Other values of the annotation are neither executed nor removed. */
export function askedOperation({ metadata }: Extension): (typeof operations)[number] | undefined {
  const annotation = metadata.annotations?.[OPERATION_ANNOTATION];
  return operations.find((operation) => operation === annotation);
}

/**
 * True while nothing was reported about the operation that gardenlet asks for. `reconcile` is removed when it is
 * accepted; `migrate` and `restore` stay until they have succeeded, so their timestamp decides.
 */
export function isNewlyAsked(extension: Extension): boolean {
  const operation = askedOperation(extension);
  return operation !== undefined && (operation === 'reconcile' || !isAnswered(extension));
}

/** True when something was reported since gardenlet's last request, in whole seconds, as gardenlet compares them. */
export function isAnswered(extension: Extension): boolean {
  return Date.parse(extension.status?.lastOperation?.lastUpdateTime ?? '') >= timestampOf(extension);
}

/** Returns gardenlet's timestamp in ms, truncated to seconds; 0 without one. */
export function timestampOf(extension: Extension): number {
  const millis = Date.parse(extension.metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? '');
  return Number.isNaN(millis) ? 0 : Math.floor(millis / 1000) * 1000;
}

/** Formats a time as RFC 3339 with seconds, like metav1.Time. */
export function seconds(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19)}Z`;
}

function sameError(live: LastError | null, wanted: OperationReport['error']): boolean {
  if (live === null || wanted === undefined) return live === null && wanted === undefined;
  return live.description === wanted.description && (live.codes ?? []).join() === (wanted.codes ?? []).join();
}

/**
 * The only error code that we report: shown to the user and retried. A code that is not retryable puts the Shoot into
 * Failed, where all its extensions stop (rule 1.6, trap 21), and every error in this configuration can be corrected
 * while everything else keeps running.
 */
export const RETRYABLE_CONFIGURATION_PROBLEM = 'ERR_RETRYABLE_CONFIGURATION_PROBLEM';
