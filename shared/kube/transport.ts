import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { json } from 'node:stream/consumers';
import { ShootFluxError } from '../errors.ts';
import type { CallGuard } from './call-guard.ts';
import type { Connection } from './connection.ts';
import { UnreachableError } from './errors.ts';
import { type Call, callText, resourceText, statusError } from './status-error.ts';

/** A finished request, for metrics and benchmarks; a watch counts when its answer begins. */
export interface RequestInfo {
  /** HTTP method. */
  method: string;
  /** `extensions.extensions.gardener.cloud`; core resources without the group. */
  resource: string;
  /** HTTP status; 0 without an answer. */
  status: number;
  ms: number;
}

/** The options of a client of one API server. */
export interface KubeClientOptions {
  /** The cluster's name in messages, for example `the garden`. Default: the server's host. */
  name?: string;
  /** Shown in the API server's audit log; by convention `shoot-flux/<function>`. Default `shoot-flux`. */
  userAgent?: string;
  /** Time limit of a call, and of a watch until its answer begins. Default 8 s: below the functions' 10 s. */
  timeoutMs?: number;
  /** Aborts every call, for example shortly before the function's time limit. */
  signal?: AbortSignal;
  onRequest?: (info: RequestInfo) => void;
  /** Refuses calls while the cluster does not answer. */
  guard?: CallGuard;
}

/** An API server with its pool of connections, and the options of this client. */
export interface Transport {
  connection: Connection;
  server: URL;
  agent: Agent;
  options: KubeClientOptions;
}

/** One call, ready to be sent. */
export interface Request extends Call {
  path: string;
  accept?: string;
  contentType?: string;
  body?: unknown;
  /** Reads the body of a successful answer; default: as JSON. May throw a SyntaxError. */
  read?: (body: AsyncIterable<Buffer>) => Promise<unknown>;
}

/** Idle connections are closed after this time; load balancers drop them silently after minutes. */
const idleMs = 30_000;

/** @throws ShootFluxError when the server is not an https URL */
export function createTransport(connection: Connection, options: KubeClientOptions): Transport {
  const server = serverUrl(connection.server);
  const agent = new Agent({
    keepAlive: true,
    timeout: idleMs,
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
    rejectUnauthorized: connection.insecure !== true,
  });
  return { connection, server, agent, options };
}

/** Runs `work` with a signal that aborts after the client's time limit, with the client's signal and with `signal`. */
export async function withTimeLimit<T>(
  { options }: Transport,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), options.timeoutMs ?? 8000);
  try {
    const others = [options.signal, signal].filter((other) => other !== undefined);
    return await work(others.length === 0 ? limit.signal : AbortSignal.any([limit.signal, ...others]));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends the request; again with a fresh token after a 401, and again over a new connection if a pooled one is dead.
 * @throws ClusterDownError at once while the cluster is down
 */
export async function exchange(transport: Transport, request: Request, signal: AbortSignal): Promise<IncomingMessage> {
  const guarded = transport.options.guard?.begin(callText(request));
  try {
    const response = await exchangeUnguarded(transport, request, signal);
    guarded?.answered();
    return response;
  } catch (error) {
    if (error instanceof UnreachableError) guarded?.failed(error);
    else guarded?.dropped();
    throw error;
  }
}

async function exchangeUnguarded(
  transport: Transport,
  request: Request,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { token } = transport.connection;
  const current = typeof token === 'function' ? await token(false) : token;
  const response = await sendAgain(transport, request, current, signal);
  if (response.statusCode !== 401 || typeof token !== 'function') return response;
  const fresh = await token(true);
  if (fresh === current) return response;
  response.resume();
  return sendAgain(transport, request, fresh, signal);
}

/** Returns the answer's JSON. @throws the typed error of a failed call */
export async function answer<T>(
  transport: Transport,
  request: Request,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<T> {
  const status = response.statusCode ?? 0;
  const good = status >= 200 && status < 300;
  const read = (good && request.read) || json;
  const body = await whileReading(response, signal, () => read(response)).catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw unreachable(transport, request, error, signal);
    // The parser's own message quotes the text, which may be a Secret.
    if (good) throw new UnreachableError(`${callText(request)}: the answer is not JSON`, 0, 'InvalidAnswer');
    return undefined;
  });
  if (!good) throw statusError(request, status, body, response.headers);
  return body as T;
}

/** Stops reading an answer when the signal aborts: a request's own signal covers only the time until the headers. */
async function whileReading<T>(response: IncomingMessage, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  const abort = () => response.destroy();
  signal.addEventListener('abort', abort);
  try {
    if (signal.aborted) abort();
    return await read();
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Returns the error for a missing or incomplete answer. */
export function unreachable(
  { server, options }: Transport,
  request: Request,
  error: unknown,
  signal: AbortSignal,
): ShootFluxError {
  if (error instanceof ShootFluxError) return error;
  const noAnswer = (reason?: string) => {
    const details = [...(options.name === undefined ? [] : [server.host]), ...(reason === undefined ? [] : [reason])];
    const suffix = details.length === 0 ? '' : ` (${details.join(', ')})`;
    return `${callText(request)}: no answer from ${options.name ?? server.host}${suffix}`;
  };
  if (options.signal?.aborted === true) {
    return new UnreachableError(`${noAnswer()} before the time limit of this run`, 0, 'Aborted');
  }
  if (signal.aborted) {
    return new UnreachableError(`${noAnswer()} within ${(options.timeoutMs ?? 8000) / 1000} s`, 0, 'Timeout');
  }
  const code = (error as { code?: unknown }).code;
  const reason = typeof code === 'string' ? code : 'NoAnswer';
  const remedy = 'check the address, the network path and the certificate authority';
  return new UnreachableError(`${noAnswer(reason)}: ${remedy}`, 0, reason);
}

/** A pooled connection was dead. */
class StaleConnection extends Error {}

async function sendAgain(
  transport: Transport,
  request: Request,
  token: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  // A server may close idle connections at any time, and a thawed Lambda has several dead ones. Only a create must not
  // be repeated: every other call is idempotent, or carries the version that it expects.
  const attempts = request.method === 'POST' ? 1 : 3;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send(transport, request, token, signal);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      if (attempt >= attempts) throw unreachable(transport, request, error.cause, signal);
    }
  }
}

function send(
  { server, agent, options, ...transport }: Transport,
  call: Request,
  token: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const start = performance.now();
  const report = (status: number) =>
    options.onRequest?.({
      method: call.method,
      resource: resourceText(call.resource),
      status,
      ms: performance.now() - start,
    });
  return new Promise((resolve, reject) => {
    const outgoing = request({
      agent,
      signal,
      method: call.method,
      hostname: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || 443,
      path: server.pathname.replace(/\/$/, '') + call.path,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': options.userAgent ?? 'shoot-flux',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': call.contentType, 'content-length': Buffer.byteLength(body) }),
      },
    });
    outgoing.on('response', (response) => {
      report(response.statusCode ?? 0);
      resolve(response);
    });
    outgoing.on('error', (error) => {
      report(0);
      const stale = outgoing.reusedSocket && !signal.aborted;
      const failed = { server, agent, options, ...transport };
      reject(stale ? new StaleConnection('', { cause: error }) : unreachable(failed, call, error, signal));
    });
    outgoing.end(body);
  });
}

function serverUrl(server: string): URL {
  if (URL.canParse(server)) {
    const url = new URL(server);
    if (url.protocol === 'https:') return url;
  }
  throw new ShootFluxError('The address of an API server must be an https:// URL: tokens never travel over plain HTTP');
}
