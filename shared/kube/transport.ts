import { Agent, type AgentOptions } from 'node:https';
import { DEFAULT_CIPHERS } from 'node:tls';
import { ShootFluxError } from '../errors.ts';
import type { CallGuard } from '../runtime/cluster-health.ts';
import type { Call } from './call-errors.ts';
import { CONNECT_MS, expiry } from './call-limit.ts';
import type { Connection } from './connection.ts';

/** How many bytes of an answer are read. An answer with more is refused while it arrives, before it is parsed. */
export interface AnswerLimits {
  /** One object, one item of a list, or one event of a watch. */
  object: number;
  /** A list that is read as a whole. */
  list: number;
  /** A list, or a page of one, that is read item by item. */
  stream: number;
  /** The answer to a call that failed. Of a longer one only the status counts. */
  error: number;
}

const MIB = 1024 * 1024;

/**
 * The garden and seeds. etcd stores objects of up to 1.5 MiB; in JSON an API server writes `<`, `>` and `&` with six
 * bytes, and projects write such texts.
 */
const clusterLimits: AnswerLimits = { object: 16 * MIB, list: 32 * MIB, stream: 64 * MIB, error: MIB / 4 };

/**
 * Shoots: their owners choose what aggregated APIs answer. 3 MiB are what an API server accepts as the body of a request.
 */
export const shootLimits: AnswerLimits = { object: 3 * MIB, list: 3 * MIB, stream: 64 * MIB, error: MIB / 16 };

/** A finished request, for metrics and benchmarks; a watch counts when its answer begins. */
export interface RequestInfo {
  /** HTTP method. */
  method: string;
  /** `extensions.extensions.gardener.cloud`; core resources without the group. */
  resource: string;
  /** HTTP status; 0 without an answer. */
  status: number;
  ms: number;
  /** What the server's clock said when it answered, in whole seconds; as the header `Date` writes it. */
  date?: string | undefined;
}

/** The options of a client of one API server. */
export interface KubeClientOptions {
  /** The cluster's name in messages, for example `the garden`. Default: the server's host. */
  name?: string;
  /** Shown in the API server's audit log; by convention `shoot-flux/<function>`. Default `shoot-flux`. */
  userAgent?: string;
  /** Time limit of a call, and of a watch until its answer begins. Default 8 s: below the functions' 10 s. */
  timeoutMs?: number;
  /** Time limit for TCP and TLS. Default 2 s. Clients made by `with` share connections, so there it has no effect. */
  connectTimeoutMs?: number;
  /** Default: the limits for the garden and seeds. */
  limits?: AnswerLimits;
  /** Aborts every call, for example shortly before the function's time limit. */
  signal?: AbortSignal;
  onRequest?: (info: RequestInfo) => void;
  /** Called for a call or a probe that ended without an answer, also when its credentials could not be used. */
  onUnreachable?: (error: unknown) => void;
  /** Refuses calls while the cluster does not answer. */
  guard?: CallGuard;
}

/** An API server with its pool of connections, and the options of this client. */
export interface Transport {
  connection: Connection;
  server: URL;
  agent: Pool;
  options: KubeClientOptions;
}

/** One call, ready to be sent. */
export interface Request extends Call {
  path: string;
  accept?: string;
  contentType?: string;
  body?: unknown;
  /** The longest successful answer in bytes; default: that of one object. */
  maxBytes?: number;
  /** Reads the body of a successful answer; default: as JSON. May throw a SyntaxError. */
  read?: (body: AsyncIterable<Buffer>) => Promise<unknown>;
}

/** Idle connections are closed after this time; load balancers drop them silently after minutes. */
const idleMs = 30_000;

/** Without groups that the server chooses: to compute with a prime of 10,000 bits takes 0.9 s. API servers have none of these. */
const CIPHERS = `${DEFAULT_CIPHERS}:!kDHE`;

/** @throws ShootFluxError when the server is not an https URL */
export function createTransport(connection: Connection, options: KubeClientOptions): Transport {
  const server = serverUrl(connection.server);
  const agent = new Pool(
    {
      keepAlive: true,
      timeout: idleMs,
      ca: connection.ca,
      cert: connection.cert,
      key: connection.key,
      ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
      rejectUnauthorized: connection.insecure !== true,
      ciphers: CIPHERS,
    },
    options.connectTimeoutMs ?? CONNECT_MS,
  );
  return { connection, server, agent, options };
}

/** Returns how much of an answer is read. */
export function limitsOf({ options }: Transport): AnswerLimits {
  return options.limits ?? clusterLimits;
}

/** Returns the API server's name in messages. */
export function serverName({ options, server }: Transport): string {
  return options.name ?? server.host;
}

function serverUrl(server: string): URL {
  if (URL.canParse(server)) {
    const url = new URL(server);
    if (url.protocol === 'https:') return url;
  }
  throw new ShootFluxError('The address of an API server must be an https:// URL: tokens never travel over plain HTTP');
}

/** The code of the error when a connection was not made in time. Nothing was sent yet. */
export const CONNECT_TIMEOUT = 'ConnectTimeout';

/** A pool of TLS connections to one server. */
class Pool extends Agent {
  readonly #given: AgentOptions;
  readonly #connectMs: number;

  /** @param connectMs time limit for TCP and TLS: the system's own is minutes, and TLS has none */
  constructor(options: AgentOptions, connectMs: number) {
    super(options);
    this.#given = options;
    this.#connectMs = connectMs;
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
      const end = expiry(this.#connectMs, () => {
        socket.destroy(Object.assign(new Error('no connection in time'), { code: CONNECT_TIMEOUT }));
      });
      socket.once('secureConnect', end);
      socket.once('close', end);
    }
    return socket;
  }

  /** Returns a pool with the same options that keeps no connection. */
  fresh(): Pool {
    return new Pool({ ...this.#given, keepAlive: false, maxCachedSessions: 0 }, this.#connectMs);
  }

  /** Closes the connections that serve no request: after an outage they may be dead, and each would cost a time limit. */
  dropIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
  }
}
