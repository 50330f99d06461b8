import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';

/** How an API server is reached, and as whom. */
export interface Connection {
  /** `https://host[:port]` */
  server: string;
  /** PEM. */
  ca?: string | undefined;
  token?: string | undefined;
}

export interface ClientOptions {
  /** @default 'landscape' */
  userAgent?: string;
  /** Time limit of one call, of a watch until its answer begins. @default 8000 */
  timeoutMs?: number;
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  path: string;
  contentType?: string | undefined;
  body?: unknown;
}

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
/** The object changed since it was read. */
export const isConflict = (error: unknown) => hasStatus(error, 409) && error.reason !== 'AlreadyExists';
/** The resourceVersion is too old to watch from: list again. */
export const isGone = (error: unknown) => hasStatus(error, 410);
export const isInvalid = (error: unknown) => hasStatus(error, 422);

/** Returns the message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const JSON_TYPE = 'application/json';
/** A pooled connection may be dead; there may be several. */
const ATTEMPTS = 3;

class StaleConnection extends Error {}

/** Connections to one API server. */
export function createTransport(connection: Connection, options: ClientOptions = {}) {
  const { userAgent = 'landscape', timeoutMs = 8000 } = options;
  const { hostname, port } = new URL(connection.server);
  const agent = new Agent({ keepAlive: true, timeout: 30_000, ca: connection.ca });
  const authorization = connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` };

  const send = ({ method, path, contentType = JSON_TYPE, body }: Call, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const sent = content !== undefined && {
        'content-type': contentType,
        'content-length': Buffer.byteLength(content),
      };
      const headers = { accept: JSON_TYPE, 'user-agent': userAgent, ...authorization, ...sent };
      const outgoing = request({ agent, signal, method, hostname, port: port || 443, path, headers });
      outgoing.on('response', resolve);
      outgoing.on('error', (cause) => {
        const stale = outgoing.reusedSocket && !signal.aborted;
        const Failure = stale ? StaleConnection : Error;
        reject(new Failure(`${method} ${connection.server}${path}: ${cause.message}`, { cause }));
      });
      outgoing.end(content);
    });

  const exchange = async (call: Call, signal: AbortSignal) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call, signal);
      } catch (error) {
        // A create must not happen twice; any other call may be repeated.
        if (!(error instanceof StaleConnection) || call.method === 'POST' || attempt === ATTEMPTS) throw error;
      }
    }
  };

  /** Returns a success as soon as its headers are here. `signal` breaks it off, also while its body is being read. */
  const open = async (call: Call, signal: AbortSignal) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      const response = await exchange(call, AbortSignal.any([limit.signal, signal]));
      destroyOnAbort(response, signal);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) return response;
      throw new ApiError(statusCode, parsed(await text(response)));
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    open,
    /** Returns the body of a success. @throws ApiError for any other answer */
    async call<T>(call: Call) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        return JSON.parse(await text(await open(call, limit.signal))) as T;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
}

/** The `signal` of a request has no effect any more when the headers of the answer are here. */
function destroyOnAbort(response: IncomingMessage, signal: AbortSignal): void {
  const destroy = () => response.destroy();
  signal.addEventListener('abort', destroy);
  response.on('close', () => signal.removeEventListener('abort', destroy));
  if (signal.aborted) destroy();
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return { message: content.trim() };
  }
}

/** Yields the JSON values of a body with one per line, as they arrive. */
export async function* jsonLines(response: IncomingMessage) {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}
