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

  constructor(code: number, reason: string, message: string, details?: Details) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The Status object. */
  get status(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason !== '' && { reason: this.reason }),
      ...(this.details && { details: this.details as unknown as Json }),
      code: this.code,
    };
  }
}

/** What an error is about; the API server puts the plural into `details.kind`. */
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

const qualified = (group: string, name: string) => (group === '' ? name : `${name}.${group}`);

/** Returns an error about one object, or about all of a kind if the name is empty. */
const about = (code: number, reason: string, subject: Subject, name: string, why: string, start = '') => {
  const text = `${start}${qualified(subject.group, subject.plural)}${name === '' ? '' : ` "${name}"`}${why}`;
  return new ApiError(code, reason, text, details(subject, name));
};

export const notFound = (subject: Subject, name: string) => about(404, 'NotFound', subject, name, ' not found');

export const alreadyExists = (subject: Subject, name: string) =>
  about(409, 'AlreadyExists', subject, name, ' already exists');

export const conflict = (subject: Subject, name: string, why: string) =>
  about(409, 'Conflict', subject, name, `: ${why}`, 'Operation cannot be fulfilled on ');

export const forbidden = (subject: Subject, name: string, why: string) =>
  about(403, 'Forbidden', subject, name, ` is forbidden: ${why}`);

/** Returns the answer for a path that is not served. */
export const noSuchPath = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message);

/** 422 with one cause per field error. */
export function invalid(subject: Subject, name: string, errors: readonly FieldError[]): ApiError {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${qualified(subject.group, subject.kind)} "${name}" is invalid: ${text}`, {
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

const fieldErrorOf =
  (reason: string, text: string) =>
  (field: string, value: unknown, detail = ''): FieldError => {
    const parts = [text, ...(value === undefined ? [] : [show(value)]), ...(detail === '' ? [] : [detail])];
    return { field, reason: `FieldValue${reason}`, message: parts.join(': ') };
  };

const typeInvalid = fieldErrorOf('TypeInvalid', 'Invalid value');
const unsupported = fieldErrorOf('NotSupported', 'Unsupported value');
const forbiddenField = fieldErrorOf('Forbidden', 'Forbidden');

/** Builders for the field errors of validation, with the messages of the real API server. */
export const fieldError = {
  invalid: fieldErrorOf('Invalid', 'Invalid value'),
  required: (field: string) => fieldErrorOf('Required', 'Required value')(field, undefined),
  type: (field: string, value: string, wanted: string) =>
    typeInvalid(field, value, `${field} in body must be of type ${wanted}: "${value}"`),
  unsupported: (field: string, value: unknown, allowed: readonly unknown[]) =>
    unsupported(field, value, `supported values: ${allowed.map(show).join(', ')}`),
  forbidden: (field: string, detail: string) => forbiddenField(field, undefined, detail),
};

export const expired = (message: string) => new ApiError(410, 'Expired', message);

export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
