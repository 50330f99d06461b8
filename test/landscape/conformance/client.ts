import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import { jsonLines } from '../client/transport.ts';

/** An API server for the suite, which leaves objects on it. */
export interface ConformanceServer {
  url: string;
  /** PEM. */
  ca: string;
  /** Token of an administrator. */
  token: string;
  /** Token of the user `limited`, who has no rights; only where RBAC decides. */
  limitedToken?: string;
  stop(): Promise<unknown>;
}

export type Body = ReturnType<typeof JSON.parse>;

export interface Answer {
  code: number;
  body: Body;
  headers: Record<string, string | string[] | undefined>;
}

export interface RequestOptions {
  query?: Record<string, string>;
  body?: object;
  contentType?: string;
  accept?: string;
  userAgent?: string;
  token?: string;
}

export interface WatchEvent {
  type: string;
  object: Body;
}

/** An open watch. */
export interface Watch extends Disposable {
  /** Returns the next event; fails after a time without one. */
  next(limitMs?: number): Promise<WatchEvent>;
  /** Returns all further events until the server ends the watch. */
  rest(): Promise<WatchEvent[]>;
}

/** Sends plain HTTP requests to an API server, and judges nothing. */
export class ConformanceClient {
  readonly #server: ConformanceServer;
  readonly #agent: Agent;

  constructor(server: ConformanceServer) {
    this.#server = server;
    this.#agent = new Agent({ ca: server.ca, keepAlive: true });
  }

  get = (path: string, options: RequestOptions = {}) => this.send('GET', path, options);
  post = (path: string, body: object, options: RequestOptions = {}) => this.send('POST', path, { body, ...options });
  put = (path: string, body: object, options: RequestOptions = {}) => this.send('PUT', path, { body, ...options });
  delete = (path: string, options: RequestOptions = {}) => this.send('DELETE', path, options);
  mergePatch = (path: string, body: object, options: RequestOptions = {}) =>
    this.send('PATCH', path, { body, contentType: 'application/merge-patch+json', ...options });

  /** Applies on the server, with force. */
  apply(path: string, fieldManager: string, body: object, options: RequestOptions = {}): Promise<Answer> {
    const query = { fieldManager, force: 'true' };
    return this.send('PATCH', path, { body, contentType: 'application/apply-patch+yaml', query, ...options });
  }

  async send(method: string, path: string, options: RequestOptions): Promise<Answer> {
    const response = await this.#open(method, path, options);
    const { statusCode = 0, headers } = response;
    const content = await text(response);
    const isJson = headers['content-type']?.startsWith('application/json') ?? false;
    return { code: statusCode, body: isJson ? JSON.parse(content) : content, headers };
  }

  watch(path: string, query: Record<string, string> = {}, options: RequestOptions = {}): Watch {
    const response = this.#open('GET', path, { ...options, query: { watch: 'true', ...query } });
    const events = (async function* (): AsyncGenerator<WatchEvent, undefined> {
      for await (const event of jsonLines(await response)) yield event;
    })();
    return {
      async next(limitMs = 60_000) {
        const { promise: limit, reject } = Promise.withResolvers<never>();
        const timer = setTimeout(() => reject(new Error(`no event within ${limitMs} ms`)), limitMs);
        const next = await Promise.race([events.next(), limit]).finally(() => clearTimeout(timer));
        if (next.done === true) throw new Error('the watch has ended');
        return next.value;
      },
      async rest() {
        const all: WatchEvent[] = [];
        for await (const event of events) all.push(event);
        return all;
      },
      [Symbol.dispose]: () => void response.then((open) => open.destroy()).catch(() => {}),
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(method: string, path: string, options: RequestOptions): Promise<IncomingMessage> {
    const { query, body, contentType = 'application/json', accept = 'application/json', userAgent, token } = options;
    const content = body && JSON.stringify(body);
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    const headers = {
      authorization: `Bearer ${token ?? this.#server.token}`,
      accept,
      'user-agent': userAgent ?? 'conformance/1',
      ...(content && { 'content-type': contentType, 'content-length': String(Buffer.byteLength(content)) }),
    };
    return new Promise((resolve, reject) => {
      const url = `${this.#server.url}${path}${search}`;
      httpsRequest(url, { method, agent: this.#agent, headers }, resolve).on('error', reject).end(content);
    });
  }
}
