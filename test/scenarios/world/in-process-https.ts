import { EventEmitter } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';

/**
 * Answers HTTPS requests to these servers within the process, without sockets, TLS and HTTP: they took four fifths of
 * the time of the kill suites, which make a hundred thousand requests. Requests to other servers are sent as usual.
 * @param servers request listeners by the origin that clients address, such as `https://127.0.0.1:12345`
 */
export function answerInProcess(servers: ReadonlyMap<string, RequestListener>) {
  const onTheWay = new Set<InProcessRequest>();
  const original = https.request;
  const request = (options: RequestOptions, ...rest: never[]) => {
    const listener = servers.get(`https://${options.hostname}:${options.port}`);
    return listener === undefined ? original(options, ...rest) : new InProcessRequest(options, listener, onTheWay);
  };
  replaceRequest(request as typeof https.request);
  return {
    /** Remembers the writes that have not reached their servers. @returns a function that sends them once more */
    checkpoint() {
      const writes = [...onTheWay];
      return () => {
        for (const write of writes) write.sendAgain();
      };
    },
    /** Restores `https.request`. */
    restore: () => replaceRequest(original),
  };
}

function replaceRequest(request: typeof https.request): void {
  https.request = request;
  syncBuiltinESMExports();
}

/** The part of a `ClientRequest` that the clients use. */
class InProcessRequest extends EventEmitter {
  readonly reusedSocket = false;
  readonly #options: RequestOptions;
  readonly #listener: RequestListener;
  /** The writes that have not reached their servers. */
  readonly #onTheWay: Set<InProcessRequest>;
  #body: string | undefined;
  #response: Readable | undefined;
  #isOver = false;

  constructor(options: RequestOptions, listener: RequestListener, onTheWay: Set<InProcessRequest>) {
    super();
    this.#options = options;
    this.#listener = listener;
    this.#onTheWay = onTheWay;
  }

  end(body?: string): void {
    const { signal } = this.#options;
    const abort = () => this.destroy(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.once('over', () => signal?.removeEventListener('abort', abort));
    this.#body = body;
    if (this.#options.method !== 'GET') this.#onTheWay.add(this);
    // Like a network, it takes a turn of the event loop.
    setImmediate(() => {
      this.#onTheWay.delete(this);
      if (this.#isOver) return;
      if (signal?.aborted) abort();
      else
        this.#listener(
          this.#incoming(body),
          new InProcessResponse(this) as unknown as ServerResponse<IncomingMessage> & { req: IncomingMessage },
        );
    });
  }

  /** Sends it once more, for a client that waits for no answer. */
  sendAgain(): void {
    const { signal, ...options } = this.#options;
    const again = new InProcessRequest(options, this.#listener, this.#onTheWay);
    again.on('error', () => {});
    again.end(this.#body);
  }

  /** The headers of the answer; its body follows through the stream. */
  respond(statusCode: number, headers: OutgoingHttpHeaders, body: Readable): void {
    if (this.#isOver) return;
    this.#response = body;
    body.once('close', () => this.emit('over'));
    // No byte passes a socket.
    this.emit('response', Object.assign(body, { statusCode, headers, socket: new EventEmitter() }));
  }

  /** Breaks the connection. */
  destroy(error: unknown = new Error('socket hang up')): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.emit('over');
    if (this.#response === undefined) this.emit('error', error);
    else this.#response.destroy();
  }

  #incoming(body: string | undefined): IncomingMessage {
    const { method, path, headers } = this.#options;
    const chunks = body === undefined ? [] : [Buffer.from(body)];
    const socket = { destroy: () => this.destroy() };
    const incoming = { method, url: path, headers, socket, [Symbol.asyncIterator]: () => chunks[Symbol.iterator]() };
    return incoming as unknown as IncomingMessage;
  }
}

/** The part of a `ServerResponse` that the embedded API server uses. */
class InProcessResponse extends EventEmitter {
  statusCode = 200;
  headersSent = false;
  writableEnded = false;
  readonly #request: InProcessRequest;
  readonly #headers: OutgoingHttpHeaders = {};
  readonly #body = new Readable({ read() {} });

  constructor(request: InProcessRequest) {
    super();
    this.#request = request;
    request.once('over', () => this.emit('close'));
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  appendHeader(name: string, value: string): void {
    const before = this.#headers[name];
    this.#headers[name] = before === undefined ? value : `${before}, ${value}`;
  }

  writeHead(statusCode: number, headers: OutgoingHttpHeaders = {}): void {
    this.statusCode = statusCode;
    this.headersSent = true;
    this.#request.respond(statusCode, { ...this.#headers, ...headers }, this.#body);
  }

  write(chunk: string): void {
    this.#body.push(chunk);
  }

  end(chunk?: string): void {
    if (chunk !== undefined) this.#body.push(chunk);
    this.#body.push(null);
    this.writableEnded = true;
    this.emit('finish');
  }

  destroy(): void {
    this.#request.destroy();
  }
}
