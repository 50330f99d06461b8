import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { expect, onTestFinished, test } from 'vitest';
import { statusError } from '../../shared/kube/call-errors.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { shootLimits } from '../../shared/kube/transport.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';

const { configMaps } = resources;
const name = { namespace: 'a', name: 'b' };
/** What the stand-in writes to a connection after a request has arrived. */
type Script = (socket: TLSSocket) => void;

/** The head of an answer without a length: it ends when the connection does. */
function head(status = '200 OK', headers: Record<string, string> = {}): string {
  const lines = Object.entries({ 'content-type': 'application/json', connection: 'close', ...headers });
  return `HTTP/1.1 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** Writes a chunk again and again, as fast as the other side reads, until the connection is closed. */
function stream(socket: TLSSocket, chunk: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** A client for a shoot whose API writes any bytes over TLS, also such that no HTTP server would write. */
async function shootWith(
  script: Script,
  options: KubeClientOptions = {},
  tls: TlsOptions = {},
): Promise<HttpKubeClient> {
  const sockets = new Set<TLSSocket>();
  const server = createServer({ ...loopbackCertificate(), ...tls }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', () => script(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = { server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, insecure: true };
  const client = createKubeClient(connection, { name: 'the shoot', limits: shootLimits, timeoutMs: 2000, ...options });
  onTestFinished(async () => {
    client.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return client;
}

/** Answers every request with this body. */
const body = (text: string, status = '200 OK', headers = {}): Script => {
  const answer = Buffer.from(head(status, headers) + text);
  return (socket) => void socket.end(answer);
};
const object = (more: string) => `{"metadata":{"name":"b"}${more}}`;
const host = String.raw`the shoot \(127\.0\.0\.1:\d+`;

const informational = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(2000);

const hostile: [what: string, script: Script, sentence: string][] = [
  [
    'streams without end',
    (socket) => {
      socket.write(`${head()}{"a":"`);
      stream(socket, 'x'.repeat(65_536));
    },
    '^GET configmaps a/b: the answer of the shoot is larger than 3 MiB, so it is not read; make the objects smaller, or remove some$',
  ],
  [
    'streams headers without end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      stream(socket, 'x-header: y\r\n'.repeat(100));
    },
    `^GET configmaps a/b: no valid HTTP from ${host}, HPE_HEADER_OVERFLOW\\): check whether its address is that of an API server$`,
  ],
  [
    'sends informational answers without end',
    (socket) => stream(socket, informational),
    `^GET configmaps a/b: no answer from ${host}\\) within 2 s$`,
  ],
  ['closes the connection in the middle of an answer', body('{"metadata":'), 'the answer is not JSON$'],
  ['says nothing that is HTTP', (socket) => socket.write('SSH-2.0-OpenSSH\r\n'), 'no valid HTTP from the shoot'],
  ['answers null', body('null'), 'the answer is not a Kubernetes object with valid metadata$'],
  ['has labels that are not texts', body('{"metadata":{"name":"b","labels":{"a":{}}}}'), 'with valid metadata$'],
  [
    'redirects',
    body('', '302 Found', { location: 'https://169.254.169.254/' }),
    ': 302: the answer is not a Kubernetes Status',
  ],
  [
    'switches protocols',
    body('', '101 Switching Protocols', { upgrade: 'x', connection: 'upgrade' }),
    'no answer from the shoot',
  ],
  [
    'fails with a page of many MiB',
    (socket) => {
      socket.write(head('500 Internal Server Error'));
      stream(socket, '<html>'.repeat(1000));
    },
    '^GET configmaps a/b: 500: the answer is not a Kubernetes Status; a proxy in front of the API server may have sent it$',
  ],
];

test.each(hostile)('an API that %s ends in one sentence', async (_, script, sentence) => {
  const client = await shootWith(script);
  const outcome = await client.find(configMaps, name).then(
    () => 'resolved',
    (error: Error) => error.message,
  );
  expect(outcome).toMatch(new RegExp(sentence));
  expect(outcome).not.toContain('\n');
});

test('an API that chooses the prime of the key exchange gets no connection', async () => {
  const ciphers = 'DHE-RSA-AES128-GCM-SHA256';
  const client = await shootWith(body('{}'), {}, { ciphers, dhparam: 'auto', maxVersion: 'TLSv1.2' });
  await expect(client.find(configMaps, name)).rejects.toThrow(
    new RegExp(`^GET configmaps a/b: no answer from ${host}, EPROTO\\)`),
  );
});

test('an object that is nested too deeply to be written back ends in one sentence', async () => {
  const client = await shootWith(body(object(`,"a":${'['.repeat(70_000)}${']'.repeat(70_000)}`)));
  const found = await client.find(configMaps, name);
  await expect(client.mergePatch(configMaps, name, found, { fieldManager: 'test' })).rejects.toThrow(
    /^PATCH configmaps a\/b: the fields of the object are nested too deeply; recreate the object$/,
  );
});

test.each([
  ['without objects', '[1,"a",null]', 'the answer is not a Kubernetes object with valid metadata$'],
  ['whose items are an object', '{"length":1000000000}', 'is not a list of Kubernetes objects$'],
])('a list %s ends in one sentence', async (_, items, sentence) => {
  const client = await shootWith(body(`{"metadata":{},"items":${items}}`));
  await expect(client.list(configMaps)).rejects.toThrow(new RegExp(sentence));
});

test('a list without end is left at its limit, when read item by item, too', async () => {
  const endless: Script = (socket) => {
    socket.write(`${head()}{"items":[`);
    stream(socket, `{"metadata":{"name":"a"},"text":"${'x'.repeat(60_000)}"},`);
  };
  const limits = { ...shootLimits, stream: 5 * 1024 * 1024 };
  const client = await shootWith(endless, { limits, timeoutMs: 10_000 });
  await expect(client.list(configMaps)).rejects.toThrow('GET configmaps: the answer of the shoot is larger than 3 MiB');
  let bytes = 0;
  const onItem = (_: unknown, itemBytes: number) => {
    bytes += itemBytes;
  };
  await expect(client.list(configMaps, { onItem })).rejects.toThrow('the answer of the shoot is larger than 5 MiB');
  expect(bytes).toBeGreaterThan(5_000_000);
});

test('a watch whose event never ends is left at the limit of one object', async () => {
  const client = await shootWith((socket) => {
    socket.write(`${head()}{"type":"`);
    stream(socket, 'x'.repeat(65_536));
  });
  const watch = async () => {
    const { signal } = new AbortController();
    for await (const _ of client.watch(configMaps, { resourceVersion: '1', timeoutSeconds: 60, signal }));
  };
  await expect(watch()).rejects.toThrow('the answer of the shoot is larger than 3 MiB');
});

test('a message of an API server is cut where it arrives, with all that quotes it', () => {
  const body = {
    kind: 'Status',
    reason: 'r'.repeat(40_000),
    message: 'a'.repeat(40_000),
    details: { causes: Array.from({ length: 10_000 }, () => ({ field: 'f'.repeat(1000) })) },
  };
  const call = { method: 'PATCH', resource: resources.deployments, name: { namespace: 'a', name: 'b' } };
  const error = statusError(call, 422, body);
  expect(error.message.length).toBeLessThan(5500);
  expect(error.reason.length).toBeLessThanOrEqual(100);
  expect(describeError(error).length).toBeLessThanOrEqual(1001);
  expect(describeError(error)).toMatch(/^PATCH deployments\.apps a\/b: 422 r+: a+…$/);
  const ofSecret = statusError({ ...call, resource: resources.secrets }, 422, body);
  expect(ofSecret.message).toMatch(/: see f{200}(, f{200}){19}$/);
});

test.each([
  ['no details', undefined],
  ['details that are a text', 'x'],
  ['causes that are not a list', { causes: 7, retryAfterSeconds: '5' }],
  ['causes that are not objects', { causes: [null, 7, 'x', { field: {} }] }],
])('a Status with %s is an ordinary failure', (_, details) => {
  const error = statusError({ method: 'GET', resource: resources.secrets }, 500, { kind: 'Status', details });
  expect(error).toMatchObject({ status: 500, retryAfterSeconds: undefined });
  expect(error.message).toContain('withheld');
});

test.each([
  ['7', 7],
  [' 7 ', 7],
  ['0', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['soon', undefined],
  ['', undefined],
  ['999999999', 3600],
  ['9'.repeat(400), 3600],
  [new Date(Date.now() - 60_000).toUTCString(), undefined],
  [new Date(Date.now() + 86_400_000).toUTCString(), 3600],
])('Retry-After "%s" asks for %s seconds', (header, seconds) => {
  const error = statusError({ method: 'GET', resource: resources.secrets }, 429, undefined, { 'retry-after': header });
  expect(error.retryAfterSeconds).toBe(seconds);
});

test('what a text shows is visible and well-formed: no control characters, no reversed text, no half characters', () => {
  const shown = safeText('a\u001b[31mred\u0000\u202eevil\u2028\ud800b\u200b🙂');
  expect(shown).toBe('ared evil b 🙂');
});

test('a secret at the place where a message is cut stays hidden', () => {
  const url = 'https://user:hunter2hunter2@git.example.com/a';
  for (let before = 4950; before <= 5001; before++) {
    const text = `-----BEGIN PRIVATE KEY-----${'x'.repeat(before - 60)}-----END PRIVATE KEY----- ${url} ghp_${'a1'.repeat(20)}`;
    const shown = safeText(text, 5000);
    expect(shown).not.toMatch(/hunter|a1a1/);
  }
});
