import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, askWebhooks, type Call, type CreationWebhook, type User } from './call.ts';
import { remove } from './deletes.ts';
import * as discovery from './discovery.ts';
import { ApiError, badRequest, forbidden, methodNotAllowed, noSuchPath, notFound } from './errors.ts';
import { type Fault, Faults, type RequestSummary } from './faults.ts';
import { type ApiObject, asObject, asString, type Json, type JsonObject } from './json.ts';
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

/** Awaited before a request is carried out; a function that it returns is called as soon as the request is answered. */
export type OnRequest = (request: RequestSummary) => unknown;

export interface HandlerOptions {
  registry: Registry;
  users: Map<string, User>;
  rbac: boolean;
  webhooks: readonly CreationWebhook[];
  onRequest?: OnRequest | undefined;
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
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'https://localhost');
    const info = requestInfo(pathname);
    const [scheme, token = ''] = (request.headers.authorization ?? '').split(' ');
    const user = scheme === 'Bearer' ? this.#options.users.get(token) : undefined;
    const method = request.method ?? 'GET';
    const summary: LoggedRequest = {
      ...{ method, path: pathname, query },
      userAgent: request.headers['user-agent'] ?? '',
      user: user?.name ?? '',
      verb: info === undefined ? '' : verbOf(method, info, query),
      status: 0,
    };
    this.requests.push(summary);
    response.on('finish', () => {
      summary.status = response.statusCode;
    });
    try {
      const body = await text(request);
      const onAnswer = await this.#options.onRequest?.(summary);
      const fault = this.faults.take(summary);
      if (await preempts(fault, request, response)) return;
      if (user === undefined && !pathname.startsWith('/healthz')) {
        throw new ApiError(401, 'Unauthorized', 'Unauthorized');
      }
      const known = user ?? { name: 'system:anonymous', groups: [] };
      const review = method === 'POST' ? this.#review(pathname, known, asObject(parsed(body))) : undefined;
      if (review !== undefined) send(response, 201, review);
      else if (info === undefined) this.#inform(pathname, request.headers.host ?? '', response);
      else this.#serve(info, { ...summary, user: known, body: parsed(body), fault }, request, response);
      if (typeof onAnswer === 'function') onAnswer();
    } catch (error) {
      sendError(response, error);
    }
  }

  #serve(
    info: RequestInfo,
    { verb, query, userAgent, user, body, fault }: Asked,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { registry, webhooks } = this.#options;
    // Everybody who is known may ask (ClusterRole system:basic-user).
    if (info.plural === 'selfsubjectreviews' && info.group === 'authentication.k8s.io' && verb === 'create') {
      const status = { userInfo: { username: user.name, groups: [...user.groups] } };
      const kind = { apiVersion: `${info.group}/${info.version}`, kind: 'SelfSubjectReview' };
      send(response, 201, { ...kind, metadata: { creationTimestamp: new Date().toISOString() }, status });
      return;
    }
    const definition = registry.find(info.group, info.version, info.plural);
    const authorize = (what: string) => this.#authorize(user, what, info, nameAsked(info, query));
    authorize(verb);
    if (info.group === 'authorization.k8s.io' && info.plural === 'subjectaccessreviews' && verb === 'create') {
      send(response, 201, reviewed(registry, body));
      return;
    }
    const isMisplaced = info.namespace !== '' && definition?.namespaced === false;
    if (definition === undefined ? !registry.serves(info.group, info.version) : isMisplaced && definition.custom) {
      sendText(response, 404, pageNotFound);
      return;
    }
    if (definition === undefined || isMisplaced) throw noSuchPath();
    const { namespace, name, subresource } = info;
    const call: Call = {
      ...{ definition, namespace, name, subresource, query, userAgent, body },
      contentType: (request.headers['content-type'] ?? '').split(';')[0] ?? '',
      mayCreate: () => authorize('create'),
      admit: () => askWebhooks(webhooks, { user: user.name, ...info }),
    };
    const form = formOf(request.headers.accept ?? '');
    if (verb === 'watch') {
      const onClose = (closed: OpenWatch) => void this.watches.delete(closed);
      const opened = watch(call, response, { form, onClose });
      if (!response.writableEnded) this.watches.add(opened);
      return;
    }
    const { revision } = registry.clock;
    const answer = carryOut(registry, call, verb, form);
    if (fault?.action === 'hang' && (registry.clock.revision !== revision || fault.ifChanged === undefined)) {
      fault.ifChanged?.();
    } else if (fault?.action === 'reset') request.socket.destroy();
    else send(response, answer.code, answer.body);
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

  /** Answers what a user asks about itself, as everybody may; undefined for any other path. */
  #review(path: string, user: User, body: JsonObject): JsonObject | undefined {
    const metadata = { creationTimestamp: null };
    if (path === '/apis/authentication.k8s.io/v1/selfsubjectreviews') {
      const userInfo = { username: user.name, groups: [...user.groups] };
      return { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata, status: { userInfo } };
    }
    if (path !== '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews') return undefined;
    const asked = asObject(asObject(body.spec).resourceAttributes);
    const [verb, group, plural, subresource, namespace, name] = [
      ...[asked.verb, asked.group, asked.resource, asked.subresource, asked.namespace, asked.name].map(asString),
    ] as [string, string, string, string, string, string];
    const resource = subresource === '' ? plural : `${plural}/${subresource}`;
    const allowed =
      !this.#options.rbac || isAllowed(this.#options.registry, user, { verb, group, resource, namespace, name });
    return { ...body, metadata, status: { allowed } };
  }

  /** Answers paths other than those of resources. */
  #inform(path: string, host: string, response: ServerResponse): void {
    const { registry } = this.#options;
    const [root = '', ...parts] = path.split('/').filter((part) => part !== '');
    const [first = '', second = ''] = parts;
    if (['healthz', 'readyz', 'livez'].includes(root)) {
      sendText(response, 200, 'ok');
      return;
    }
    let body: JsonObject | undefined;
    if (path === '/version') body = discovery.version;
    else if (root === 'api')
      body = first === '' ? discovery.coreVersions(host) : discovery.resources(registry, '', first);
    else if (root === 'apis' && first === '') body = discovery.groups(registry);
    else if (root === 'apis' && second === '') body = discovery.group(registry, first);
    else if (root === 'apis') body = discovery.resources(registry, first, second);
    if (body === undefined) sendText(response, 404, pageNotFound);
    else send(response, 200, body);
  }
}

/** Answers whether roles and bindings let a user do something; it stores nothing. */
function reviewed(registry: Registry, body: Json | undefined): JsonObject {
  const spec = fieldsOf(fieldsOf(body).spec);
  const asked = fieldsOf(spec.resourceAttributes);
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : '');
  const { verb, group, resource, namespace, name } = asked;
  const groups = Array.isArray(spec.groups) ? spec.groups.map(text) : [];
  const allowed = isAllowed(
    registry,
    { name: text(spec.user), groups },
    {
      ...{ verb: text(verb), group: text(group), resource: text(resource) },
      ...{ namespace: text(namespace), name: text(name) },
    },
  );
  return { ...fieldsOf(body), metadata: { creationTimestamp: null }, status: { allowed } };
}

const fieldsOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** A request to a resource, before its path is understood. */
interface Asked extends Pick<Call, 'query' | 'userAgent' | 'body'> {
  user: User;
  verb: string;
  fault: Fault | undefined;
}

/** @returns true when a fault is the answer */
async function preempts(fault: Fault | undefined, { socket }: IncomingMessage, response: ServerResponse) {
  if (fault?.action === 'latency') await sleep(fault.ms);
  if (fault?.action === 'status') {
    const { status, retryAfterSeconds, reason = reasons[status] ?? 'Unknown', message = 'a fault on demand' } = fault;
    const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
    sendError(response, new ApiError(status, reason, message, details));
    return true;
  }
  if (fault === undefined || fault.action === 'latency' || fault.after) return false;
  if (fault.action === 'reset') socket.destroy();
  return true;
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

/** Every client of the landscape sends JSON, also as the YAML of an apply. */
function parsed(text: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is no JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

/** Carries out a request to a resource, watches excepted. */
function carryOut(registry: Registry, call: Call, verb: string, form: Form): Answer {
  const { definition, name, namespace, subresource } = call;
  if (subresource !== '' && !(subresource === 'status' && definition.status)) {
    throw definition.custom ? notFound(definition, name) : noSuchPath();
  }
  if (verb === 'list') {
    const page = list(call);
    return { code: 200, body: renderList(definition, page.items, page.metadata, form) };
  }
  const isNowhere = definition.namespaced && namespace === '';
  if (isNowhere || (verb === 'create') !== (name === '') || (verb === 'delete' && subresource !== '')) {
    throw methodNotAllowed();
  }
  const { code, body } = write(registry, call, verb);
  const isStatus = (body as { kind?: Json }).kind === 'Status';
  return { code, body: isStatus ? body : render(definition, body as ApiObject, form) };
}

function write(registry: Registry, call: Call, verb: string): Answer {
  if (verb === 'create') return create(registry, call);
  if (verb === 'update') return update(call);
  if (verb === 'patch') return patch(registry, call);
  return verb === 'delete' ? remove(call) : get(call);
}

/** The parts of a path of the API. */
interface RequestInfo {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
}

/** Parses a path below `/api` or `/apis`; returns undefined when it is not the path of a resource. */
function requestInfo(path: string): RequestInfo | undefined {
  const parts = path.split('/').slice(1).map(decodeURIComponent);
  if (parts.at(-1) === '') parts.pop();
  const [root] = parts;
  if (root !== 'api' && root !== 'apis') return undefined;
  const group = root === 'api' ? '' : (parts[1] ?? '');
  const version = parts[root === 'api' ? 1 : 2] ?? '';
  const rest = parts.slice(root === 'api' ? 2 : 3);
  if (rest.length === 0 || rest.length > 5) return undefined;
  const [first = '', namespace = '', plural, name = '', subresource = ''] = rest;
  const ofNamespace = first === 'namespaces' && plural !== undefined && plural !== 'status';
  if (ofNamespace) return { group, version, namespace, plural, name, subresource };
  if (rest.length > 3) return undefined;
  return { group, version, namespace: '', plural: first, name: namespace, subresource: plural ?? '' };
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

/** Returns the verb of a request, as authorization knows it. */
function verbOf(method: string, { name }: RequestInfo, query: URLSearchParams): string {
  const isWatch = ['true', '1'].includes(query.get('watch') ?? '');
  return verbs[method] ?? (isWatch ? 'watch' : name === '' ? 'list' : 'get');
}

/** Returns the name for authorization: a list or watch may name one object in its field selector. */
function nameAsked({ name }: RequestInfo, query: URLSearchParams): string {
  if (name !== '') return name;
  return /(?:^|,)metadata\.name==?([^=,]+)/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}
