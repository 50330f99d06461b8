import type { IncomingHttpHeaders } from 'node:http';
import { ShootFluxError } from '../errors.ts';
import { cutText } from '../runtime/safe-text.ts';
import { entriesAt, fieldsAt, fieldsOf, textAt } from '../shapes.ts';
import { CALL_MS, CONNECT_MS, type Stop } from './call-limit.ts';
import {
  AlreadyExistsError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  KubeError,
  NotFoundError,
  UnreachableError,
} from './errors.ts';
import type { ObjectName, Resource } from './resource.ts';
import { CONNECT_TIMEOUT, type Request, serverName, type Transport } from './transport.ts';

/** A call, for messages. */
export interface Call {
  /** HTTP method. */
  method: string;
  resource: Resource;
  /** Absent for lists and watches of everything. */
  name?: Partial<ObjectName> | undefined;
}

/** Messages are cut here, where they arrive: a webhook or an aggregated API chooses their length. */
const LONGEST_MESSAGE = 5000;
const LONGEST_REASON = 100;

/** Causes are named up to this number. */
const MOST_CAUSES = 20;
const LONGEST_FIELD = 200;

/** Returns for example `PATCH secrets shoot--foo--bar/flux-source`. */
export function callText({ method, resource, name }: Call): string {
  const object = [name?.namespace, name?.name].filter((part) => part !== undefined).join('/');
  return object === '' ? `${method} ${resourceText(resource)}` : `${method} ${resourceText(resource)} ${object}`;
}

/** Returns for example `extensions.extensions.gardener.cloud`; core resources without the group. */
export function resourceText({ group, plural }: Resource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/**
 * Returns the typed error for a failed call.
 * @param body the parsed answer; undefined if it is not JSON (a proxy's page, which is never quoted)
 */
export function statusError(
  call: Call,
  httpStatus: number,
  body: unknown,
  headers: IncomingHttpHeaders = {},
): KubeError {
  const status = textAt(body, 'kind') === 'Status' ? fieldsOf(body) : undefined;
  const code = httpStatus === 200 && typeof status?.code === 'number' ? status.code : httpStatus;
  const reason = cutText(textAt(status, 'reason') ?? '', LONGEST_REASON);
  const message = `${callText(call)}: ${[code, reason].filter(Boolean).join(' ')}: ${explanation(call, code, status)}`;
  const retryAfterSeconds = retryAfterOf(headers['retry-after'], status);
  const next = textAt(status, 'metadata', 'continue');
  const options = {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(next && { continue: next }),
  };
  // For an unknown path an API server answers "404 page not found" with an audit id. A 404 from a proxy does not prove
  // absence; if it did, configured objects would be removed.
  const answered = status !== undefined || headers['audit-id'] !== undefined;
  const ErrorClass = answered ? errorClass(code, reason) : KubeError;
  return new ErrorClass(message, code, reason, options);
}

function errorClass(code: number, reason: string): typeof KubeError {
  if (code === 404) return NotFoundError;
  if (code === 409) return reason === 'AlreadyExists' ? AlreadyExistsError : ConflictError;
  if (code === 403) return ForbiddenError;
  if (code === 422) return InvalidError;
  if (code === 410) return GoneError;
  return KubeError;
}

/** Codes whose messages name objects and fields, never values. */
const harmless = new Set([401, 403, 404, 409, 410, 429]);

/** A webhook or policy chooses code and message freely. */
const denied = /\bdenied (the )?request\b/;

/** What the API server itself writes before the text of a webhook or policy: anchored, so that no such text fits. */
const denialOfSecret =
  /^(?:admission webhook "[\w.:-]{1,253}" denied the request\b|secrets(?: "[\w.:-]{1,253}")? is forbidden: ValidatingAdmissionPolicy '[\w.:-]{1,253}' with binding '[\w.:-]{1,253}' denied request\b)/;

function explanation({ resource }: Call, code: number, status: unknown): string {
  const message = textAt(status, 'message') ?? 'no message';
  if (status === undefined)
    return 'the answer is not a Kubernetes Status; a proxy in front of the API server may have sent it';
  if (code === 401 && message === 'Unauthorized') return 'the API server does not accept the credentials; renew them';
  // "expected string, got &value.valueUnstructured{Value:…}" quotes the request.
  if (resource.kind === 'Secret' && (!harmless.has(code) || denied.test(message))) {
    const fields = causeFields(status);
    const rest =
      fields.length === 0
        ? 'the original message is withheld because it may contain Secret data'
        : `see ${fields.join(', ')}`;
    const [denial] = denialOfSecret.exec(message) ?? [];
    return denial === undefined ? rest : `${denial}; ${rest}`;
  }
  return cutText(message, LONGEST_MESSAGE);
}

function causeFields(status: unknown): string[] {
  const causes = entriesAt(status, 'details', 'causes').slice(0, MOST_CAUSES);
  return causes.flatMap((cause) => textAt(cause, 'field') ?? []).map((field) => cutText(field, LONGEST_FIELD));
}

/** Longer waits are cut to this: every key is looked at once an hour in any case. */
const LONGEST_RETRY_AFTER_SECONDS = 3600;

/** Returns the wait that the server asks for, in whole seconds; undefined if it asks for none. */
function retryAfterOf(header: string | undefined, status: unknown): number | undefined {
  const asked = [secondsOf(header), fieldsAt(status, 'details')?.retryAfterSeconds];
  const seconds = asked.find((value) => typeof value === 'number' && value > 0);
  return seconds === undefined ? undefined : Math.min(Math.ceil(seconds as number), LONGEST_RETRY_AFTER_SECONDS);
}

/** Reads seconds, or a date. */
function secondsOf(header = ''): number | undefined {
  if (/^\s*\d+\s*$/.test(header)) return Number(header);
  const date = /\bGMT\s*$/.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : (date - Date.now()) / 1000;
}

const REMEDY = 'check the address, the network path and the certificate authority';

/** Returns the error for a missing or incomplete answer. */
export function unreachable(
  transport: Transport,
  request: Request,
  error: unknown,
  signal: AbortSignal,
): ShootFluxError {
  const { server, options } = transport;
  if (error instanceof ShootFluxError) return error;
  const stop: Stop | undefined = signal.aborted ? signal.reason : undefined;
  if (stop?.by === 'down') return stop.error;
  const without = (what: string, rest: string, reason: string, shown?: string) => {
    const details = [options.name === undefined ? undefined : server.host, shown].filter(
      (detail) => detail !== undefined,
    );
    const suffix = details.length === 0 ? '' : ` (${details.join(', ')})`;
    return new UnreachableError(`${callText(request)}: ${what} ${serverName(transport)}${suffix}${rest}`, 0, reason);
  };
  const within = (ms: number) => ` within ${ms / 1000} s`;
  if (stop?.by === 'limit') return without('no answer from', within(options.timeoutMs ?? CALL_MS), 'Timeout');
  if (stop !== undefined) return without('no answer from', ' before the time limit of this run', 'Aborted');
  const code = (error as { code?: unknown } | undefined)?.code;
  const reason = typeof code === 'string' ? code : 'NoAnswer';
  if (reason === CONNECT_TIMEOUT) {
    return without('no connection to', `${within(options.connectTimeoutMs ?? CONNECT_MS)}: ${REMEDY}`, reason);
  }
  // The HTTP parser's codes: headers of more than 16 KiB, broken chunks.
  if (reason.startsWith('HPE_')) {
    const remedy = ': check whether its address is that of an API server';
    return without('no valid HTTP from', remedy, 'InvalidAnswer', reason);
  }
  // Nothing was sent: Node could not read a PEM text, or would not send the token.
  if (reason.startsWith('ERR_OSSL_') || reason === 'ERR_INVALID_CHAR') {
    return without('no request to', ': check the certificate, key and token in its kubeconfig', reason, reason);
  }
  return without('no answer from', `: ${REMEDY}`, reason, reason);
}
