import type { Json, JsonObject } from './json.ts';

/** One reason of an Invalid or Conflict answer. */
export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

interface Details {
  group?: string;
  kind?: string;
  name?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

/** An error that is answered as a `v1` Status. */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details | undefined;
  /** Further fields of the Status' metadata, for example `continue`. */
  readonly metadata: JsonObject;

  constructor(code: number, reason: string, message: string, details?: Details, metadata: JsonObject = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
  }

  /** The Status object. */
  get status(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details && { details: this.details as unknown as Json }),
      code: this.code,
    };
  }
}

/** Returns `details` of an error; the API server puts the plural into `details.kind`. */
export interface Subject {
  group: string;
  plural: string;
  kind: string;
}

const details = ({ group, plural }: Subject, name: string): Details => ({
  ...(name !== '' && { name }),
  ...(group !== '' && { group }),
  kind: plural,
});

const qualified = ({ group, plural }: Subject) => (group === '' ? plural : `${plural}.${group}`);
const qualifiedKind = ({ group, kind }: Subject) => (group === '' ? kind : `${kind}.${group}`);

export const notFound = (subject: Subject, name: string) =>
  new ApiError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, details(subject, name));

/** Returns the answer for a path that is not served. */
export const noSuchPath = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (subject: Subject, name: string) =>
  new ApiError(409, 'AlreadyExists', `${qualified(subject)} "${name}" already exists`, details(subject, name));

export const conflict = (subject: Subject, name: string, why: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`,
    details(subject, name),
  );

export const changedMeanwhile = (subject: Subject, name: string) =>
  conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message);

export const forbidden = (subject: Subject, name: string, why: string, causes?: Cause[]) =>
  new ApiError(403, 'Forbidden', `${qualified(subject)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`, {
    ...details(subject, name),
    ...(causes && { causes }),
  });

/** 422 with one cause per field error. */
export function invalid(subject: Subject, name: string, errors: readonly FieldError[]): ApiError {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${qualifiedKind(subject)} "${name}" is invalid: ${text}`, {
    ...(name !== '' && { name }),
    ...(subject.group !== '' && { group: subject.group }),
    kind: subject.kind,
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** An error of one field. */
export interface FieldError {
  field: string;
  reason: string;
  message: string;
}

const show = (value: unknown) => (typeof value === 'string' ? `"${value}"` : JSON.stringify(value));

/** Builders for the field errors of validation, with the messages of the real API server. */
export const fieldError = {
  required: (field: string, detail = ''): FieldError => ({
    field,
    reason: 'FieldValueRequired',
    message: detail === '' ? 'Required value' : `Required value: ${detail}`,
  }),
  invalid: (field: string, value: unknown, detail: string): FieldError => ({
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${show(value)}: ${detail}`,
  }),
  type: (field: string, type: string, wanted: string): FieldError => ({
    field,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: "${type}": ${field} in body must be of type ${wanted}: "${type}"`,
  }),
  unsupported: (field: string, value: unknown, allowed: readonly unknown[]): FieldError => ({
    field,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${show(value)}: supported values: ${allowed.map(show).join(', ')}`,
  }),
  forbidden: (field: string, detail: string): FieldError => ({
    field,
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${detail}`,
  }),
  duplicate: (field: string, value: unknown): FieldError => ({
    field,
    reason: 'FieldValueDuplicate',
    message: `Duplicate value: ${show(value)}`,
  }),
  tooMany: (field: string, count: number, limit: number): FieldError => ({
    field,
    reason: 'FieldValueTooMany',
    message: `Too many: ${count}: must have at most ${limit} item${limit === 1 ? '' : 's'}`,
  }),
  tooLong: (field: string, limit: number): FieldError => ({
    field,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${limit} bytes`,
  }),
};

export const expired = (message: string, metadata: JsonObject = {}) =>
  new ApiError(410, 'Expired', message, undefined, metadata);

export const unsupportedMediaType = () =>
  new ApiError(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format');

export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const unauthorized = () => new ApiError(401, 'Unauthorized', 'Unauthorized');
