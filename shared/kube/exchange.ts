import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { ShootFluxError } from '../errors.ts';
import { callText, resourceText, unreachable } from './call-errors.ts';
import { type CallLimit, withCallLimit } from './call-limit.ts';
import { ClusterDownError, UnreachableError } from './errors.ts';
import type { Request, Transport } from './transport.ts';

/**
 * Sends the request; again with a fresh token after a 401, and again over a new connection if a pooled one is dead.
 * @throws ClusterDownError at once while the cluster is down, and when it goes down before it answers
 */
export async function exchange(transport: Transport, request: Request, limit: CallLimit): Promise<IncomingMessage> {
  const { guard, onUnreachable } = transport.options;
  const call = callText(request);
  const guarded = guard?.begin(call);
  const unsubscribe = guard?.onDown((errorOf) => limit.stop({ by: 'down', error: errorOf(call) }));
  try {
    const response = await authenticated(transport, request, limit.signal);
    guarded?.answered();
    return response;
  } catch (error) {
    if (error instanceof ClusterDownError) {
      guarded?.dropped();
      throw error;
    }
    onUnreachable?.(error);
    if (error instanceof UnreachableError) throw guarded?.failed(error) ?? error;
    guarded?.dropped();
    throw error;
  } finally {
    unsubscribe?.();
  }
}

async function authenticated(transport: Transport, request: Request, signal: AbortSignal): Promise<IncomingMessage> {
  const { token } = transport.connection;
  const current = typeof token === 'function' ? await token(false) : token;
  const response = await sendAgain(transport, request, current, signal);
  if (response.statusCode !== 401 || typeof token !== 'function') return response;
  const fresh = await token(true);
  if (fresh === current) return response;
  // The rest is not read, and may have no end.
  response.destroy();
  return sendAgain(transport, request, fresh, signal);
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

/** What is written may contain what an API server has answered, which JSON.parse reads at any depth. */
function bodyOf(call: Request): string | undefined {
  if (call.body === undefined) return undefined;
  try {
    return JSON.stringify(call.body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ShootFluxError(`${callText(call)}: the fields of the object are nested too deeply; recreate the object`);
  }
}

/** Begins a request. @throws UnreachableError for a key or token that Node does not accept */
function requestOf(transport: Transport, call: Request, signal: AbortSignal, options: RequestOptions): ClientRequest {
  const { server } = transport;
  try {
    return httpsRequest({
      hostname: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || 443,
      path: server.pathname.replace(/\/$/, '') + call.path,
      ...options,
    });
  } catch (error) {
    throw unreachable(transport, call, error, signal);
  }
}

function send(
  transport: Transport,
  call: Request,
  token: string | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { agent, options } = transport;
  const body = bodyOf(call);
  const start = performance.now();
  const report = (status: number, date?: string) =>
    options.onRequest?.({
      method: call.method,
      resource: resourceText(call.resource),
      status,
      ms: performance.now() - start,
      date,
    });
  return new Promise((resolve, reject) => {
    const outgoing = requestOf(transport, call, signal, {
      agent,
      method: call.method,
      headers: {
        accept: call.accept ?? 'application/json',
        'user-agent': options.userAgent ?? 'shoot-flux',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': call.contentType, 'content-length': Buffer.byteLength(body) }),
      },
    });
    let isSettled = false;
    let answer: IncomingMessage | undefined;
    // The option `signal` would do the same, with a dozen listeners for each request. A request that is destroyed after its
    // answer has begun only discards what still arrives of it.
    const abort = () => (answer ?? outgoing).destroy();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
    outgoing.on('response', (response) => {
      isSettled = true;
      answer = response;
      report(response.statusCode ?? 0, response.headers.date);
      resolve(response);
    });
    outgoing.on('error', (error) => {
      isSettled = true;
      report(0);
      const stale = outgoing.reusedSocket && !signal.aborted;
      reject(stale ? new StaleConnection('', { cause: error }) : unreachable(transport, call, error, signal));
    });
    // After "101 Switching Protocols" there is neither an answer nor an error. `close` always fires, and an `error` event
    // may come after this function has returned.
    outgoing.on('close', () => {
      signal.removeEventListener('abort', abort);
      if (!isSettled) reject(unreachable(transport, call, undefined, signal));
    });
    outgoing.end(body);
  });
}

/** A probe that takes longer counts as no answer: `/version` needs neither etcd nor a webhook. */
const PROBE_MS = 3000;

const version = { group: '', version: 'v1', plural: 'version', kind: 'Version', namespaced: false };

/**
 * Asks the API server for its version over a new connection: pooled ones may be dead. Sends no credentials, since any
 * status is an answer.
 * @throws UnreachableError
 */
export async function probe(transport: Transport): Promise<void> {
  const { onRequest: _, ...options } = transport.options;
  const fresh = { ...transport, agent: transport.agent.fresh(), options };
  const call = { method: 'GET', resource: version, path: '/version' };
  try {
    const limits = { ...options, timeoutMs: PROBE_MS };
    const response = await withCallLimit(limits, ({ signal }) => send(fresh, call, undefined, signal));
    response.destroy();
  } catch (error) {
    options.onUnreachable?.(error);
    throw error;
  }
}
