/** An answer of an API server that is no success; the message is the one in its Status. */
export class ApiError extends Error {
  override name = 'ApiError';
  /** HTTP status, also of an ERROR event in a watch. */
  readonly status: number;
  /** `reason` of the Status, for example `AlreadyExists`. */
  readonly reason: string;

  constructor(status: number, body: unknown) {
    const { message, reason } = (body ?? {}) as { message?: string; reason?: string };
    super(message ?? `HTTP status ${status}`);
    this.status = status;
    this.reason = reason ?? '';
  }
}

function hasStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status;
}

export const isNotFound = (error: unknown) => hasStatus(error, 404);
/** The object changed since it was read, or another manager owns a field. */
export const isConflict = (error: unknown) => hasStatus(error, 409) && error.reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown) => hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** The resourceVersion is too old to watch from: list again. */
export const isGone = (error: unknown) => hasStatus(error, 410);
export const isInvalid = (error: unknown) => hasStatus(error, 422);

/** Returns the message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
