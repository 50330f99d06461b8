import { ShootFluxError } from '../errors.ts';

/** A failed call: the API server's answer, or none, with `status` 0. */
export class KubeError extends ShootFluxError {
  override name = 'KubeError';
  readonly status: number;
  /** `reason` of the Status object, for example `Forbidden`. */
  readonly reason: string;
  /** From the Retry-After header or the Status. */
  readonly retryAfterSeconds: number | undefined;
  /** From the Status of a 410 in the middle of a list: continues it, with objects of another version. */
  readonly continue: string | undefined;

  constructor(
    message: string,
    status: number,
    reason: string,
    options?: ErrorOptions & { retryAfterSeconds?: number; continue?: string },
  ) {
    super(message, options);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.continue = options?.continue;
  }
}

/** 404: the object, or its kind, does not exist. */
export class NotFoundError extends KubeError {
  override name = 'NotFoundError';
}

/** Returns undefined instead of a failure of these kinds. */
export async function unless<T>(answer: Promise<T>, ...failures: (typeof KubeError)[]): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (failures.some((failure) => error instanceof failure)) return undefined;
    throw error;
  }
}

/** Returns undefined instead of a 404: another controller may have deleted the object meanwhile. */
export function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  return unless(answer, NotFoundError);
}

/** 409 Conflict: the object changed since it was read, or another field manager owns a field. */
export class ConflictError extends KubeError {
  override name = 'ConflictError';
}

/** 409 AlreadyExists: an object of this name exists. */
export class AlreadyExistsError extends ConflictError {
  override name = 'AlreadyExistsError';
}

/** 403: the deployment's RBAC lacks a right. */
export class ForbiddenError extends KubeError {
  override name = 'ForbiddenError';
}

/** 422: the API server rejects the object's content. */
export class InvalidError extends KubeError {
  override name = 'InvalidError';
}

/** 410: the resourceVersion of a watch or list is too old; list again. */
export class GoneError extends KubeError {
  override name = 'GoneError';
}

/** Returns true if the API server, a webhook or a policy rejects the request, so that a retry does not help. */
export function isRefused(error: KubeError): boolean {
  return [400, 403, 422].includes(error.status);
}

/** No answer: connection refused or reset, timeout, TLS. */
export class UnreachableError extends KubeError {
  override name = 'UnreachableError';
}

/** The answer exceeds the limit of its request (`limitsOf` in transport.ts), so it was not read. */
export class AnswerTooLargeError extends KubeError {
  override name = 'AnswerTooLargeError';

  constructor(message: string) {
    super(message, 200, 'AnswerTooLarge');
  }
}

/** The cluster does not answer: the circuit breaker is open, and the call was not sent or found no answer either. */
export class ClusterDownError extends UnreachableError {
  override name = 'ClusterDownError';
  /** `garden` or the seed's name, as in reconcile keys. */
  readonly cluster: string;

  constructor(cluster: string, message: string) {
    super(message, 0, 'ClusterDown');
    this.cluster = cluster;
  }
}
