import { DEFAULT_CIPHERS } from 'node:tls';
import { ShootFluxError } from '../errors.ts';
import type { Turns } from '../turns.ts';
import { type AnswerLimits, clusterLimits } from './answer-limits.ts';
import type { CallGuard } from './call-guard.ts';
import { CONNECT_MS, Pool } from './connect.ts';
import type { Connection } from './connection.ts';
import type { Call } from './status-error.ts';

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
  /**
   * Time limit of a call, and of a watch until its answer begins. Default 8 s: below the functions' 10 s. For a list
   * that is read item by item it is the longest pause.
   */
  timeoutMs?: number;
  /** Time limit for TCP and TLS. Default 2 s. Clients made by `with` share connections, so there it has no effect. */
  connectTimeoutMs?: number;
  /** Default: the limits for the garden and seeds. */
  limits?: AnswerLimits;
  /** Those whose answers arrive at the same time take turns. Default: the name. */
  owner?: string;
  /** Answers that are large take turns, so that many at once do not fill the memory. Default: no limit. */
  largeAnswers?: Turns;
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
  /** Reads an answer with too many parts for one turn of the event loop; default: an error. */
  readLarge?: (json: Buffer) => Promise<unknown>;
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
    options.owner ?? options.name ?? server.host,
  );
  return { connection, server, agent, options };
}

/** Returns how much of an answer is read. */
export function limitsOf({ options }: Transport): AnswerLimits {
  return options.limits ?? clusterLimits;
}

function serverUrl(server: string): URL {
  if (URL.canParse(server)) {
    const url = new URL(server);
    if (url.protocol === 'https:') return url;
  }
  throw new ShootFluxError('The address of an API server must be an https:// URL: tokens never travel over plain HTTP');
}
