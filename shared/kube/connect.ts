import { Agent, type AgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import { expiry } from './call-limit.ts';
import { takeTurns } from './pieces.ts';

/** Default time limit for TCP and TLS, with the name's resolution. */
export const CONNECT_MS = 2000;

/** The code of the error when a connection was not made in time. Nothing was sent yet. */
export const CONNECT_TIMEOUT = 'ConnectTimeout';

/** A pool of TLS connections to one server. */
export class Pool extends Agent {
  readonly #given: AgentOptions;
  readonly #connectMs: number;
  readonly #owner: string;

  /**
   * @param connectMs time limit for TCP and TLS: the system's own is minutes, and TLS has none
   * @param owner whose turns its connections share
   */
  constructor(options: AgentOptions, connectMs: number, owner: string) {
    super(options);
    this.#given = options;
    this.#connectMs = connectMs;
    this.#owner = owner;
  }

  /**
   * All connections of a pool lead to one server, so one name does. The default name contains the certificates, and is
   * made and compared three times for each request.
   */
  override getName(): string {
    return 'server';
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
    const socket = super.createConnection(options, callback);
    if (socket) {
      takeTurns(socket as Socket, this.#owner);
      const limit = expiry(this.#connectMs, () => {
        socket.destroy(Object.assign(new Error('no connection in time'), { code: CONNECT_TIMEOUT }));
      });
      socket.once('secureConnect', limit.end);
      socket.once('close', limit.end);
    }
    return socket;
  }

  /** Returns a pool with the same options that keeps no connection. */
  fresh(): Pool {
    return new Pool({ ...this.#given, keepAlive: false, maxCachedSessions: 0 }, this.#connectMs, this.#owner);
  }

  /** Closes the connections that serve no request: after an outage they may be dead, and each would cost a time limit. */
  dropIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
  }
}
