import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WatchEvent } from './client.ts';
import { tokenFile } from './connection.ts';
import {
  AlreadyExistsError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  KubeError,
  NotFoundError,
  UnreachableError,
} from './errors.ts';
import { createKubeClient, type RequestInfo } from './http-client.ts';
import { resources } from './resource.ts';
import { type SeenRequest, sendJson, startTlsServer, statusBody } from './testing.ts';

const { configMaps, extensions, secrets } = resources;
const name = { namespace: 'shoot--foo--bar', name: 'shoot-flux' };
const write = { fieldManager: 'shoot-flux-test' };

/** A client, and a server that answers every request in the same way. */
async function serverWith(answer: (request: SeenRequest, response: ServerResponse) => void, options = {}) {
  const server = await startTlsServer(answer);
  const client = createKubeClient(server.connection, options);
  return {
    server,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const echo = (request: SeenRequest, response: ServerResponse) =>
  sendJson(response, 200, request.body === '' ? { metadata: { name: 'x' } } : JSON.parse(request.body));

const object = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { ...name } });

async function all(events: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

test('sends the requests that the API conventions describe', async () => {
  await using api = await serverWith(echo);
  const { client, server } = api;

  await client.find(extensions, name);
  await client.find(secrets, name, { metadataOnly: true });
  await client.list(configMaps, { fieldSelector: 'metadata.name=flux-config', limit: 500, continue: 'a/b' });
  await client.list(extensions, { namespace: 'foo', metadataOnly: true });
  await client.create(configMaps, object('ConfigMap'), write);
  await client.replace(extensions, object('Extension'), { ...write, subresource: 'status' });
  await client.apply(extensions, object('Extension'), write);
  await client.mergePatch(extensions, name, { metadata: name }, { ...write, subresource: 'status' });
  await client.delete(secrets, name, { preconditions: { uid: 'u' }, propagationPolicy: 'Background' });

  const extension = '/apis/extensions.gardener.cloud/v1alpha1/namespaces/shoot--foo--bar/extensions/shoot-flux';
  const secret = '/api/v1/namespaces/shoot--foo--bar/secrets/shoot-flux';
  const json = 'application/json';
  const metadataOnly = (kind: string) => `${json};as=${kind};g=meta.k8s.io;v=v1`;
  const manager = '?fieldManager=shoot-flux-test';
  const requests = server.requests.map(({ method, url: { pathname, search }, headers }) => [
    `${method} ${pathname}${search}`,
    ...[headers.accept, headers['content-type']],
  ]);
  expect(requests).toEqual([
    [`GET ${extension}`, json, undefined],
    [`GET ${secret}`, metadataOnly('PartialObjectMetadata'), undefined],
    ['GET /api/v1/configmaps?fieldSelector=metadata.name%3Dflux-config&limit=500&continue=a%2Fb', json, undefined],
    [
      'GET /apis/extensions.gardener.cloud/v1alpha1/namespaces/foo/extensions',
      ...[metadataOnly('PartialObjectMetadataList'), undefined],
    ],
    [`POST /api/v1/namespaces/shoot--foo--bar/configmaps${manager}`, json, json],
    [`PUT ${extension}/status${manager}`, json, json],
    [`PATCH ${extension}${manager}&force=true`, json, 'application/apply-patch+yaml'],
    [`PATCH ${extension}/status${manager}`, json, 'application/merge-patch+json'],
    [`DELETE ${secret}`, json, json],
  ]);
  expect(JSON.parse(server.requests.at(-1)?.body ?? '')).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid: 'u' },
    propagationPolicy: 'Background',
  });
});

test('an object without a name never addresses the collection', async () => {
  await using api = await serverWith(echo);
  await expect(api.client.delete(secrets, { namespace: 'foo', name: '' })).rejects.toThrow('needs a name');
  await expect(api.client.delete(secrets, { name: 'foo' })).rejects.toThrow('a namespace');
  expect(api.server.requests).toEqual([]);
});

test('lists set the kind of built-in objects, the version and the next page', async () => {
  await using api = await serverWith((_, response) =>
    sendJson(response, 200, {
      items: [{ metadata: { name: 'a' } }],
      metadata: { resourceVersion: '7', continue: 'c' },
    }),
  );
  expect(await api.client.list(secrets)).toEqual({
    items: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }],
    resourceVersion: '7',
    continue: 'c',
  });
});

test('treats only 404 as absence', async () => {
  let status = 404;
  await using api = await serverWith((_, response) => sendJson(response, status, statusBody(status, 'X', 'no')));
  expect(await api.client.find(extensions, name)).toBeUndefined();
  expect(await api.client.delete(extensions, name)).toBe(false);
  await expect(api.client.list(extensions)).rejects.toBeInstanceOf(NotFoundError);
  status = 503;
  await expect(api.client.find(extensions, name)).rejects.toBeInstanceOf(KubeError);
});

test('treats a 404 as absence only from an API server', async () => {
  let headers = {};
  await using api = await serverWith((_, response) => response.writeHead(404, headers).end('404 page not found\n'));
  await expect(api.client.find(extensions, name)).rejects.toMatchObject({ name: 'KubeError', status: 404 });
  headers = { 'audit-id': '4f31d888' };
  expect(await api.client.find(extensions, name)).toBeUndefined();
});

test.each([
  [409, 'AlreadyExists', AlreadyExistsError, 'because'],
  [409, 'Conflict', ConflictError, 'because'],
  [403, 'Forbidden', ForbiddenError, 'because'],
  [422, 'Invalid', InvalidError, 'because'],
  [410, 'Expired', GoneError, 'because'],
  [500, 'InternalError', KubeError, 'because'],
  [401, 'Unauthorized', KubeError, 'the API server does not accept the credentials; renew them'],
])('throws a typed error for %s %s that names method, resource and object', async (code, reason, type, said) => {
  const message = code === 401 ? reason : said;
  await using api = await serverWith((_, response) =>
    sendJson(response, code, statusBody(code, reason, message), { 'retry-after': '7' }),
  );
  const error = await api.client.mergePatch(extensions, name, {}, write).catch((thrown) => thrown);
  expect(error.constructor).toBe(type);
  expect(error).toMatchObject({ status: code, reason, retryAfterSeconds: 7 });
  expect(error.message).toBe(
    `PATCH extensions.extensions.gardener.cloud shoot--foo--bar/shoot-flux: ${code} ${reason}: ${said}`,
  );
});

test('quotes no answer about a Secret', async () => {
  const secret = 'cGFzc3dvcmQ=';
  let broken = false;
  await using api = await serverWith((_, response) =>
    broken
      ? response.end(`{"data":{"password":"${secret}"`)
      : sendJson(response, 422, statusBody(422, 'Invalid', `got ${secret}`, { causes: [{ field: 'data[password]' }] })),
  );
  const refused = await api.client.apply(secrets, { ...object('Secret'), data: {} }, write).catch((thrown) => thrown);
  expect(refused.message).toContain('data[password]');
  broken = true;
  const unreadable = await api.client.find(secrets, name).catch((thrown) => thrown);
  expect(unreadable).toBeInstanceOf(UnreachableError);
  for (const error of [refused, unreadable]) {
    expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain(secret);
  }
});

test("does not quote a proxy's page in an error", async () => {
  await using api = await serverWith((_, response) => response.writeHead(502).end('<html>secret</html>'));
  const error = await api.client.find(extensions, name).catch((thrown) => thrown);
  expect(error).toMatchObject({ status: 502 });
  expect(error.message).not.toContain('html');
});

test.each(['', '{"metadata":'])('reports %j as unreachable after the time limit', async (begun) => {
  await using api = await serverWith((_, response) => begun !== '' && response.write(begun), { timeoutMs: 50 });
  const error = { name: 'UnreachableError', reason: 'Timeout' };
  await expect(api.client.find(extensions, name)).rejects.toMatchObject(error);
});

test("the run's signal ends a call", async () => {
  const run = new AbortController();
  await using api = await serverWith(() => run.abort(), { signal: run.signal });
  await expect(api.client.find(extensions, name)).rejects.toMatchObject({ reason: 'Aborted' });
});

test('reports a closed port and an untrusted certificate as unreachable', async () => {
  await using server = await startTlsServer(echo);
  const distrustful = createKubeClient({ ...server.connection, ca: undefined });
  await expect(distrustful.find(extensions, name)).rejects.toMatchObject({ name: 'UnreachableError', status: 0 });
  const lost = createKubeClient({ ...server.connection, server: 'https://127.0.0.1:1' });
  await expect(lost.find(extensions, name)).rejects.toMatchObject({ reason: 'ECONNREFUSED' });
});

test('hides dead pooled connections, but never sends a create twice', async () => {
  let cut = false;
  await using api = await serverWith((request, response) => {
    if (!cut) return echo(request, response);
    cut = false;
    response.destroy();
  });
  await api.client.find(extensions, name);
  cut = true;
  await expect(api.client.find(extensions, name)).resolves.toBeDefined();
  cut = true;
  await expect(api.client.create(configMaps, object('ConfigMap'), write)).rejects.toBeInstanceOf(UnreachableError);
  expect(api.server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('rejects plain HTTP', () => {
  expect(() => createKubeClient({ server: 'http://127.0.0.1:8080', token: 'x' })).toThrow('https://');
});

test('counts every request, and sends the user agent of the function', async () => {
  const seen: RequestInfo[] = [];
  await using api = await serverWith(echo);
  const client = api.client.with({ userAgent: 'shoot-flux/keys', onRequest: (info) => seen.push(info) });
  await client.find(secrets, name);
  expect(seen).toMatchObject([{ method: 'GET', resource: 'secrets', status: 200 }]);
  expect(api.server.requests[0]?.headers['user-agent']).toBe('shoot-flux/keys');
});

test('reads a token file again after a 401', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'token-'));
  const path = join(folder.path, 'token');
  await writeFile(path, 'old\n');
  await using server = await startTlsServer((request, response) =>
    request.headers.authorization === 'Bearer new'
      ? echo(request, response)
      : sendJson(response, 401, statusBody(401, 'Unauthorized', 'no')),
  );
  const client = createKubeClient({ ...server.connection, token: tokenFile(path) });
  await expect(client.find(extensions, name)).rejects.toMatchObject({ status: 401 });
  expect(server.requests).toHaveLength(1);
  await writeFile(path, 'new\n');
  await expect(client.find(extensions, name)).resolves.toBeDefined();
  client.close();
});

test('leaves a refusal that never ends when it has a fresh token', async () => {
  const left = Promise.withResolvers<void>();
  await using server = await startTlsServer((request, response) => {
    if (request.headers.authorization === 'Bearer new') return echo(request, response);
    const timer = setInterval(() => response.write('x'.repeat(1000)), 10);
    response.writeHead(401).on('close', () => {
      clearInterval(timer);
      left.resolve();
    });
  });
  const token = async (refresh: boolean) => (refresh ? 'new' : 'old');
  const client = createKubeClient({ ...server.connection, token });
  await expect(client.find(extensions, name)).resolves.toBeDefined();
  await left.promise;
  client.close();
});

test('reads a token file again after a minute', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'token-'));
  const path = join(folder.path, 'token');
  let now = 0;
  await writeFile(path, 'one');
  const token = tokenFile(path, () => now);
  if (typeof token === 'string') throw new Error('not a file');
  expect(await token(false)).toBe('one');
  await writeFile(path, 'two');
  now = 59_000;
  expect(await token(false)).toBe('one');
  now = 60_000;
  expect(await token(false)).toBe('two');
  await writeFile(path, '\n');
  await expect(token(true)).rejects.toThrow(`token file ${path} is empty`);
  expect(await token(false)).toBe('two');
});

const watchOptions = () => ({ resourceVersion: '5', timeoutSeconds: 300, signal: new AbortController().signal });

test('yields the events of a watch wherever the bytes are split', async () => {
  const text = ['ü€😀', 'b']
    .map((value) => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: value } } })}\n`)
    .join('');
  const bytes = Buffer.from(text);
  await using api = await serverWith((_, response) => {
    let at = 0;
    const next = () => {
      if (at === bytes.length) response.end();
      else response.write(bytes.subarray(at, ++at), () => setImmediate(next));
    };
    next();
  });
  const events = await all(api.client.watch(secrets, { ...watchOptions(), metadataOnly: true }));
  expect(events.map(({ object }) => [object.metadata.name, object.kind])).toEqual([
    ['ü€😀', 'Secret'],
    ['b', 'Secret'],
  ]);
  expect(api.server.requests[0]?.url.search).toBe(
    '?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300',
  );
});

test('throws GoneError for an expired watch, as answer and as event', async () => {
  let event = false;
  const gone = statusBody(410, 'Expired', 'too old resource version');
  await using api = await serverWith((_, response) =>
    sendJson(response, event ? 200 : 410, event ? { type: 'ERROR', object: gone } : gone),
  );
  await expect(all(api.client.watch(secrets, watchOptions()))).rejects.toBeInstanceOf(GoneError);
  event = true;
  await expect(all(api.client.watch(secrets, watchOptions()))).rejects.toBeInstanceOf(GoneError);
});

test('reports a watch whose connection breaks as unreachable', async () => {
  await using api = await serverWith((_, response) => {
    response.write('{"type":"BOOKMARK","object":{"metadata":{}}}\n{"type":', () =>
      setImmediate(() => response.destroy()),
    );
  });
  await expect(all(api.client.watch(secrets, watchOptions()))).rejects.toBeInstanceOf(UnreachableError);
});

test('ends an aborted watch without an error, and lets it outlast the time limit of a call', async () => {
  const stop = new AbortController();
  await using api = await serverWith(
    (_, response) => {
      response.writeHead(200);
      response.flushHeaders();
      setTimeout(() => response.write('{"type":"BOOKMARK","object":{"metadata":{}}}\n'), 100);
    },
    { timeoutMs: 50 },
  );
  const seen: string[] = [];
  for await (const event of api.client.watch(secrets, { ...watchOptions(), signal: stop.signal })) {
    seen.push(event.type);
    stop.abort();
  }
  expect(seen).toEqual(['BOOKMARK']);
});
