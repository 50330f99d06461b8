import { Agent, request as httpsRequest } from 'node:https';

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
  /** Objects are sent as JSON, text unchanged. */
  body?: object | string;
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
  /** Returns the next event; fails after a time without one, by default five seconds. */
  next(limitMs?: number): Promise<WatchEvent>;
  /** Returns all events until the server ends the watch. */
  rest(): Promise<WatchEvent[]>;
}

export const applyType = 'application/apply-patch+yaml';
export const mergeType = 'application/merge-patch+json';
export const jsonPatchType = 'application/json-patch+json';
export const strategicType = 'application/strategic-merge-patch+json';

/** Sends plain HTTP requests to an API server. */
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
    this.send('PATCH', path, { body, contentType: mergeType, ...options });

  /** Applies on the server. */
  apply(path: string, manager: string, body: object, query: Record<string, string> = {}): Promise<Answer> {
    return this.send('PATCH', path, { body, contentType: applyType, query: { fieldManager: manager, ...query } });
  }

  send(method: string, path: string, options: RequestOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { body } = options;
      const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
      const sent = this.#open(method, path, options, text);
      sent.on('error', reject);
      sent.on('response', (response) => {
        let received = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          received += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const json = response.headers['content-type']?.startsWith('application/json') ?? false;
          const answered = json ? JSON.parse(received) : received;
          resolve({ code: response.statusCode ?? 0, body: answered, headers: response.headers });
        });
      });
      sent.end(text);
    });
  }

  watch(path: string, query: Record<string, string> = {}, options: RequestOptions = {}): Watch {
    const events: WatchEvent[] = [];
    let ended = false;
    let failure: Error | undefined;
    let wake = () => {};
    const sent = this.#open('GET', path, { ...options, query: { watch: 'true', ...query } }, undefined);
    const fail = (error: Error) => {
      failure = error;
      ended = true;
      wake();
    };
    sent.on('error', fail);
    sent.on('response', (response) => {
      let buffer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const lines = (buffer + chunk).split('\n');
        buffer = lines.pop() ?? '';
        for (const line of lines) if (line !== '') events.push(JSON.parse(line));
        wake();
      });
      response.on('error', fail);
      response.on('end', () => {
        ended = true;
        wake();
      });
    });
    sent.end();
    const more = (ms: number) =>
      new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no event within ${ms} ms`)), ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    return {
      async next(limitMs = 60_000) {
        while (events.length === 0) {
          if (ended) throw failure ?? new Error('the watch has ended');
          await more(limitMs);
        }
        return events.shift() as WatchEvent;
      },
      async rest() {
        while (!ended) await more(30_000);
        return events;
      },
      [Symbol.dispose]: () => void sent.destroy(),
    };
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(method: string, path: string, options: RequestOptions, text: string | undefined) {
    const { query, contentType = 'application/json', accept = 'application/json', userAgent, token } = options;
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
    return httpsRequest(`${this.#server.url}${path}${search}`, {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${token ?? this.#server.token}`,
        accept,
        'user-agent': userAgent ?? 'conformance/1',
        ...(text !== undefined && { 'content-type': contentType, 'content-length': String(Buffer.byteLength(text)) }),
      },
    });
  }
}
