import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** A request of this process to an API server. */
export interface SeenRequest {
  /** The function, or `watcher`. */
  by: string;
  /** The API server, with its port. */
  host: string;
  /** Method and path, for display. */
  text: string;
}

/** Records the requests of this process at the HTTP layer, from all clients. */
export interface RequestCounter extends Disposable {
  requests: SeenRequest[];
}

/** Requests of the product name the function in their user agent; those of the bench and of SDKs do not count. */
export function countRequests(): RequestCounter {
  const requests: SeenRequest[] = [];
  const onStart = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const [, by] = /^shoot-flux(?:\/(.*))?$/.exec(String(request.getHeader('user-agent'))) ?? [];
    if (by === undefined) return;
    requests.push({ by, host: String(request.getHeader('host')), text: `${request.method} ${request.path}` });
  };
  subscribe('http.client.request.start', onStart);
  return { requests, [Symbol.dispose]: () => void unsubscribe('http.client.request.start', onStart) };
}
