import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { ApiError } from './errors.ts';

/** How an API server is reached, and as whom. */
export interface Connection {
  /** `https://host[:port]` */
  server: string;
  /** PEM. */
  ca?: string | undefined;
  token?: string | undefined;
  /** Client certificate and key, PEM. */
  cert?: string | undefined;
  key?: string | undefined;
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
  accept?: string | undefined;
  contentType?: string;
  body?: unknown;
}

/** Connections to one API server. */
export interface Transport {
  /**
   * Returns the body of a success.
   * @throws ApiError for any other answer
   */
  call<T>(call: Call): Promise<T>;
  /** Returns a success as soon as its headers are here. `signal` breaks it off, also while its body is being read. */
  open(call: Call, signal: AbortSignal): Promise<IncomingMessage>;
  close(): void;
}

const JSON_TYPE = 'application/json';
const IDLE_MS = 30_000;
/** A pooled connection may be dead; there may be several. */
const ATTEMPTS = 3;

class StaleConnection extends Error {}

export function createTransport(connection: Connection, options: ClientOptions = {}): Transport {
  const { userAgent = 'landscape', timeoutMs = 8000 } = options;
  const { hostname, port } = new URL(connection.server);
  const { ca, cert, key } = connection;
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS, ca, cert, key });
  const authorization = connection.token === undefined ? {} : { authorization: `Bearer ${connection.token}` };

  const send = ({ method, path, accept = JSON_TYPE, contentType = JSON_TYPE, body }: Call, signal: AbortSignal) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const content = body === undefined ? undefined : JSON.stringify(body);
      const sent = content !== undefined && {
        'content-type': contentType,
        'content-length': Buffer.byteLength(content),
      };
      const headers = { accept, 'user-agent': userAgent, ...authorization, ...sent };
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

  return {
    async call<T>(call: Call) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        const response = await exchange(call, limit.signal);
        destroyOnAbort(response, limit.signal);
        if (!isSuccess(response)) throw await failure(response);
        return JSON.parse(await text(response)) as T;
      } finally {
        clearTimeout(timer);
      }
    },
    async open(call, signal) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        const response = await exchange(call, AbortSignal.any([limit.signal, signal]));
        destroyOnAbort(response, signal);
        if (!isSuccess(response)) throw await failure(response);
        return response;
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

async function failure(response: IncomingMessage): Promise<ApiError> {
  return new ApiError(response.statusCode ?? 0, parsed(await text(response)));
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return { message: content.trim() };
  }
}
