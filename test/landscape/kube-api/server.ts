import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, askWebhooks, type Call, type CreationWebhook, type User } from './call.ts';
import { remove } from './deletes.ts';
import * as discovery from './discovery.ts';
import { ApiError, badRequest, forbidden, methodNotAllowed, noSuchPath, notFound } from './errors.ts';
import { type Fault, Faults, type RequestSummary } from './faults.ts';
import type { ApiObject, Json, JsonObject } from './json.ts';
import { type Attributes, forbiddenText, isAllowed } from './rbac.ts';
import { type Form, formOf, get, list, render, renderList } from './reads.ts';
import type { Registry } from './registry.ts';
import { type OpenWatch, watch } from './watch.ts';
import { create, patch, update } from './writes.ts';

/** A request in the log. */
export interface LoggedRequest extends RequestSummary {
  /** 0 until it is answered. */
  status: number;
}

export interface HandlerOptions {
  registry: Registry;
  users: Map<string, User>;
  rbac: boolean;
  bookmarkIntervalMs: number;
  webhooks: readonly CreationWebhook[];
  /** Awaited before a request is carried out. */
  onRequest?: ((request: RequestSummary) => void | Promise<void>) | undefined;
}

/** Answers the requests of one API server. */
export class Handler {
  readonly faults = new Faults();
  readonly requests: LoggedRequest[] = [];
  readonly watches = new Set<OpenWatch>();
  readonly #options: HandlerOptions;

  constructor(options: HandlerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // With this header a client distinguishes an API server's "404 page not found" from that of a proxy.
    response.setHeader('audit-id', randomUUID());
    const url = new URL(request.url ?? '/', 'https://localhost');
    const info = requestInfo(url.pathname);
    const method = request.method ?? 'GET';
    const user = this.#userOf(request);
    const summary: LoggedRequest = {
      method,
      path: url.pathname,
      query: url.searchParams,
      userAgent: request.headers['user-agent'] ?? '',
      user: user?.name ?? '',
      verb: info === undefined ? '' : verbOf(method, info, url.searchParams),
      status: 0,
    };
    this.requests.push(summary);
    response.on('finish', () => {
      summary.status = response.statusCode;
    });
    try {
      const text = await bodyOf(request);
      await this.#options.onRequest?.(summary);
      const fault = this.faults.take(summary);
      if (await this.#before(fault, request, response)) return;
      if (user === undefined && !url.pathname.startsWith('/healthz')) {
        throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      }
      this.#answer(request, response, url, info, summary, user, text, fault);
    } catch (error) {
      sendError(response, error);
    }
  }

  #userOf(request: IncomingMessage): User | undefined {
    const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ');
    return scheme === 'Bearer' ? this.#options.users.get(token) : undefined;
  }

  /** @returns true when the request needs no further work */
  async #before(fault: Fault | undefined, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (fault === undefined) return false;
    if (fault.action === 'latency') {
      await new Promise((resolve) => setTimeout(resolve, fault.ms));
      return false;
    }
    if (fault.action === 'status') {
      const details =
        fault.retryAfterSeconds === undefined ? undefined : { retryAfterSeconds: fault.retryAfterSeconds };
      const message = fault.message ?? 'this is a fault on demand';
      sendError(
        response,
        new ApiError(fault.status, fault.reason ?? reasons[fault.status] ?? 'Unknown', message, details),
      );
      return true;
    }
    if (fault.after) return false;
    if (fault.action === 'reset') request.socket.destroy();
    return true;
  }

  #answer(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    info: RequestInfo | undefined,
    summary: RequestSummary,
    user: User | undefined,
    text: string,
    fault: Fault | undefined,
  ): void {
    if (info === undefined) {
      const body = this.#informational(url.pathname, request.headers.host ?? '');
      if (typeof body === 'object') send(response, 200, body);
      else sendText(response, body === undefined ? 404 : 200, body ?? pageNotFound);
      return;
    }
    const known: User = user ?? { name: 'system:anonymous', groups: [] };
    const definition = this.#options.registry.find(info.group, info.version, info.plural);
    const authorize = (verb: string) => this.#authorize(known, verb, info, nameAsked(info, url.searchParams));
    authorize(summary.verb);
    const unknown = definition === undefined && !this.#options.registry.serves(info.group, info.version);
    if (unknown || (definition?.custom && info.namespace !== '' && !definition.namespaced)) {
      sendText(response, 404, pageNotFound);
      return;
    }
    if (definition === undefined || (info.namespace !== '' && !definition.namespaced)) throw noSuchPath();
    const contentType = (request.headers['content-type'] ?? '').split(';')[0] ?? '';
    const call: Call = {
      definition,
      namespace: info.namespace,
      name: info.name,
      subresource: info.subresource,
      query: url.searchParams,
      contentType,
      userAgent: summary.userAgent,
      user: known,
      body: parsed(text),
      mayCreate: () => authorize('create'),
      admit: () => askWebhooks(this.#options.webhooks, { user: known.name, ...info }),
    };
    const form = formOf(request.headers.accept ?? '');
    if (summary.method === 'GET' && isWatch(url.searchParams)) {
      const { bookmarkIntervalMs } = this.#options;
      const onClose = (closed: OpenWatch) => {
        this.watches.delete(closed);
      };
      const opened = watch(call, response, { form, bookmarkIntervalMs, onClose });
      if (!response.writableEnded) this.watches.add(opened);
      return;
    }
    if (definition.namespaced && info.namespace === '' && summary.method !== 'GET') throw methodNotAllowed();
    const { revision } = this.#options.registry.clock;
    const { code, body } = route(this.#options.registry, call, summary.method, form);
    const hasChanged = this.#options.registry.clock.revision !== revision;
    if (fault?.action === 'hang' && (hasChanged || fault.ifChanged === undefined)) {
      fault.ifChanged?.();
      return;
    }
    if (fault?.action === 'reset') {
      request.socket.destroy();
      return;
    }
    send(response, code, body);
  }

  #authorize(user: User, verb: string, info: RequestInfo, name: string): void {
    if (!this.#options.rbac) return;
    const { group, plural, subresource, version } = info;
    const resource = subresource === '' ? plural : `${plural}/${subresource}`;
    // A request to a namespace counts as one within it.
    const namespace = group === '' && plural === 'namespaces' ? name : info.namespace;
    const attributes: Attributes = { verb, group, resource, namespace, name };
    if (isAllowed(this.#options.registry, user, attributes)) return;
    const kind = this.#options.registry.find(group, version, plural)?.kind ?? plural;
    throw forbidden({ group, plural: resource, kind }, info.name, forbiddenText(user, attributes));
  }

  /** Answers paths other than those of resources. */
  #informational(path: string, host: string): JsonObject | string | undefined {
    const { registry } = this.#options;
    const parts = path.split('/').filter((part) => part !== '');
    const [root, second = '', third = ''] = parts;
    let body: JsonObject | undefined;
    if (root === 'healthz' || root === 'readyz' || root === 'livez') return 'ok';
    if (path === '/version') body = discovery.version;
    else if (root === 'api' && parts.length === 1) body = discovery.coreVersions(host);
    else if (root === 'api') body = discovery.resources(registry, '', second);
    else if (root === 'apis' && parts.length === 1) body = discovery.groups(registry);
    else if (root === 'apis' && parts.length === 2) body = discovery.group(registry, second);
    else if (root === 'apis') body = discovery.resources(registry, second, third);
    return body;
  }
}

/** The reasons of the faults on demand. */
const reasons: Record<number, string> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(500, 'InternalError', `Internal error occurred: ${error instanceof Error ? error.stack : error}`);
  const { retryAfterSeconds } = known.details ?? {};
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  send(response, known.code, known.status);
}

const pageNotFound = '404 page not found\n';

function send(response: ServerResponse, code: number, body: Json): void {
  sendText(response, code, `${JSON.stringify(body)}\n`, 'application/json');
}

function sendText(response: ServerResponse, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-cache, private',
  });
  response.end(text);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Every client of the landscape sends JSON, also as the YAML of an apply. */
function parsed(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

/** Carries out a request to a resource (watches excepted). */
export function route(registry: Registry, call: Call, method: string, form: Form): Answer {
  const { definition, name, subresource } = call;
  const finalize = subresource === 'finalize' && definition.plural === 'namespaces' && !definition.custom;
  if (subresource !== '' && !finalize && !(subresource === 'status' && definition.status)) {
    throw definition.custom ? notFound(definition, name) : noSuchPath();
  }
  if (name === '') {
    if (method === 'GET') {
      const page = list(call);
      return { code: 200, body: renderList(definition, page.items, page.metadata, form) };
    }
    if (method === 'POST') return shown(create(registry, call));
    throw methodNotAllowed();
  }
  if (method === 'GET') return shown(get(call));
  if (method === 'PUT') return shown(update(call));
  if (method === 'PATCH') return shown(patch(registry, call));
  if (method === 'DELETE' && subresource === '') return shown(remove(call));
  throw methodNotAllowed();

  function shown({ code, body }: Answer): Answer {
    const isStatus = (body as { kind?: Json }).kind === 'Status';
    return { code, body: isStatus ? body : render(definition, body as ApiObject, form) };
  }
}

/** The parts of a path of the API. */
export interface RequestInfo {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
}

/** Parses a path below `/api` or `/apis`; returns undefined when it is not the path of a resource. */
export function requestInfo(path: string): RequestInfo | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  if (parts.at(-1) === '') parts.pop();
  const [root] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (parts[1] ?? '');
  const version = parts[root === 'api' ? 1 : 2] ?? '';
  const rest = parts.slice(root === 'api' ? 2 : 3);
  if (rest.length === 0 || rest.length > 5) return undefined;
  const [first = '', namespace = '', plural, name = '', subresource = ''] = rest;
  const ofNamespace = first === 'namespaces' && plural !== undefined && plural !== 'status' && plural !== 'finalize';
  if (ofNamespace) return { group, version, namespace, plural, name, subresource };
  if (rest.length > 3) return undefined;
  return { group, version, namespace: '', plural: first, name: namespace, subresource: plural ?? '' };
}

/** Returns the verb of a request for authorization. */
export function verbOf(method: string, info: RequestInfo, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
    default:
      if (isWatch(query)) return 'watch';
      return info.name === '' ? 'list' : 'get';
  }
}

/** Returns the name for authorization: a list or watch may name one object in its field selector. */
export function nameAsked({ name }: RequestInfo, query: URLSearchParams): string {
  if (name !== '') return name;
  return /(?:^|,)metadata\.name==?([^=,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

export function isWatch(query: URLSearchParams): boolean {
  const watch = query.get('watch');
  return watch === 'true' || watch === '1';
}
