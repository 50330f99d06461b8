import { withCallLimit } from './call-limit.ts';
import { requestOf } from './exchange.ts';
import type { Transport } from './transport.ts';
import { unreachable } from './unreachable.ts';

/** A probe that takes longer counts as no answer: `/version` needs neither etcd nor a webhook. */
const PROBE_MS = 3000;

const version = { group: '', version: 'v1', plural: 'version', kind: 'Version', namespaced: false };

/**
 * Asks the API server for its version over a new connection: pooled ones may be dead. Sends no credentials, since any
 * status is an answer.
 * @throws UnreachableError
 */
export async function probe(transport: Transport): Promise<void> {
  try {
    await ask(transport);
  } catch (error) {
    transport.options.onUnreachable?.(error);
    throw error;
  }
}

function ask(transport: Transport): Promise<void> {
  const { server, agent, options } = transport;
  const call = { method: 'GET', resource: version, path: '/version' };
  return withCallLimit({ ...options, timeoutMs: PROBE_MS }, ({ signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const outgoing = requestOf(transport, call, signal, {
      agent: agent.fresh(),
      signal,
      hostname: server.hostname.replace(/^\[|\]$/g, ''),
      port: server.port || 443,
      path: server.pathname.replace(/\/$/, '') + call.path,
      headers: { 'user-agent': options.userAgent ?? 'shoot-flux' },
    });
    outgoing.on('response', (response) => {
      response.destroy();
      resolve();
    });
    outgoing.on('error', (error) => reject(unreachable(transport, call, error, signal)));
    outgoing.on('close', () => reject(unreachable(transport, call, undefined, signal)));
    outgoing.end();
    return promise;
  });
}
