import { ShootFluxError } from '../errors.ts';

/** What the API server or the way to it answered; `status` is 0 when no answer came. */
export class KubeError extends ShootFluxError {
  override name = 'KubeError';
  readonly status: number;
  /** `reason` of the Status object, for example `Forbidden`. */
  readonly reason: string;
  /** From the Retry-After header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    status: number,
    reason: string,
    options?: ErrorOptions & { retryAfterSeconds?: number },
  ) {
    super(message, options);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** 404: there is no such object, or no such kind of objects. */
export class NotFoundError extends KubeError {
  override name = 'NotFoundError';
}

/** The object changed since it was read, or another field manager owns a field (409 Conflict). */
export class ConflictError extends KubeError {
  override name = 'ConflictError';
}

/** An object of this name is there already (409 AlreadyExists). */
export class AlreadyExistsError extends KubeError {
  override name = 'AlreadyExistsError';
}

/** 403: the deployment's RBAC lacks a right. */
export class ForbiddenError extends KubeError {
  override name = 'ForbiddenError';
}

/** 422: the API server refuses the object's content. */
export class InvalidError extends KubeError {
  override name = 'InvalidError';
}

/** 410: the resourceVersion of a watch or list is too old; list again. */
export class GoneError extends KubeError {
  override name = 'GoneError';
}

/** True for what the API server, or a webhook or policy that it asks, does not take, however often it is tried. */
export function isRefused(error: KubeError): boolean {
  return [400, 403, 422].includes(error.status);
}

/** No answer: connection refused, reset, time-out, TLS. */
export class UnreachableError extends KubeError {
  override name = 'UnreachableError';
}
