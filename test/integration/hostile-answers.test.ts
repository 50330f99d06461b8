import type { TlsOptions } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import type { HttpKubeClient, KubeClientOptions } from '../../shared/kube/http-client.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { selfSigned } from '../../shared/kube/testing.ts';
import { shootLimits } from '../../shared/kube/transport.ts';
import { head, type Script, startHostileApi, stream } from './hostile-api.ts';

const { configMaps } = resources;
const name = { namespace: 'a', name: 'b' };
let cleanUp: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const step of cleanUp) await step();
  cleanUp = [];
});

/** A client for a shoot whose API follows the script. */
async function shootWith(
  script: Script,
  options: KubeClientOptions = {},
  tls: TlsOptions = {},
): Promise<HttpKubeClient> {
  const api = await startHostileApi({ ...selfSigned(), ...tls }, script);
  const connection = { server: api.url, insecure: true };
  const client = createKubeClient(connection, { name: 'the shoot', limits: shootLimits, timeoutMs: 2000, ...options });
  cleanUp.push(async () => {
    client.close();
    await api[Symbol.asyncDispose]();
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
  [
    'answers half and is silent then',
    (socket) => socket.write(`${head()}{"metadata":`),
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
  [
    'fails with a message of 40,000 characters',
    body(JSON.stringify({ kind: 'Status', message: 'a'.repeat(40_000) }), '422 Unprocessable Entity'),
    '^GET configmaps a/b: 422: a{5000}$',
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

test('a key that cannot be read ends in one sentence', async () => {
  const key = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';
  const connection = { server: 'https://127.0.0.1:1', cert: selfSigned().cert, key };
  const client = createKubeClient(connection, { name: 'the shoot' });
  await expect(client.find(configMaps, name)).rejects.toThrow(
    new RegExp(
      `^GET configmaps a/b: no request to ${host}, \\w+\\): check the certificate, key and token in its kubeconfig$`,
    ),
  );
  client.close();
});

const hostileLists: [what: string, text: string, sentence: string][] = [
  [
    'without objects',
    '{"metadata":{},"items":[1,"a",null]}',
    'the answer is not a Kubernetes object with valid metadata$',
  ],
  [
    'whose items are an object',
    '{"metadata":{},"items":{"length":1000000000}}',
    'is not a list of Kubernetes objects$',
  ],
];

test.each(hostileLists)('a list %s ends in one sentence', async (_, text, sentence) => {
  const client = await shootWith(body(text));
  const outcome = await client.list(configMaps).then(
    () => 'resolved',
    (error: Error) => error.message,
  );
  expect(outcome).toMatch(new RegExp(sentence));
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
