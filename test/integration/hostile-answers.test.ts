import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { shootLimits } from '../../shared/kube/answer-limits.ts';
import type { HttpKubeClient, KubeClientOptions } from '../../shared/kube/http-client.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { selfSigned } from '../../shared/kube/testing.ts';
import { createTurns, turnsOf } from '../../shared/turns.ts';
import { type HostileApi, head, type Script, startHostileApi, stream } from './hostile-api.ts';

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

const pieces = '1\r\n \r\n'.repeat(10_000);
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
    'sends its answer byte by byte',
    (socket) => {
      socket.write(head('200 OK', { 'transfer-encoding': 'chunked' }));
      stream(socket, pieces);
    },
    '^GET configmaps a/b: the answer of the shoot arrives in pieces of a few bytes, so it is not read; check what sends it$',
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
    'sends one giant header',
    (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n{}`),
    'no valid HTTP from the shoot .*HPE_HEADER_OVERFLOW',
  ],
  [
    'sends informational answers without end',
    (socket) => stream(socket, informational),
    '^GET configmaps a/b: the shoot sends more than 48 KiB before it answers, so the answer is not read; check what sends it$',
  ],
  [
    'sends empty lines without end',
    (socket) => stream(socket, '\r\n'.repeat(10_000)),
    '^GET configmaps a/b: the shoot sends more than 48 KiB before it answers, so the answer is not read; check what sends it$',
  ],
  [
    'begins a chunk whose length never ends',
    (socket) => {
      socket.write(head('200 OK', { 'transfer-encoding': 'chunked' }));
      stream(socket, '0'.repeat(10_000));
    },
    '^GET configmaps a/b: the answer of the shoot arrives in pieces of a few bytes, so it is not read; check what sends it$',
  ],
  [
    'answers half and is silent then',
    (socket) => socket.write(`${head()}{"metadata":`),
    `^GET configmaps a/b: no answer from ${host}\\) within 2 s$`,
  ],
  ['closes the connection in the middle of an answer', body('{"metadata":'), 'the answer is not JSON$'],
  [
    'closes before the announced length',
    body('{}', '200 OK', { 'content-length': '100' }),
    `no answer from ${host}, ECONNRESET\\)`,
  ],
  [
    'sends broken chunks',
    body('zz\r\n{}\r\n', '200 OK', { 'transfer-encoding': 'chunked' }),
    'no (valid HTTP|answer) from the shoot',
  ],
  ['says nothing that is HTTP', (socket) => socket.write('SSH-2.0-OpenSSH\r\n'), 'no valid HTTP from the shoot'],
  [
    'nests 200,000 brackets',
    body('['.repeat(200_000)),
    'has more than 150000 values and keys, so it is not read; make it smaller$',
  ],
  ['nests what is JSON', body(object(`,"a":${'['.repeat(90_000)}${']'.repeat(90_000)}`)), '^resolved$'],
  [
    'has a million keys',
    body(`{${Array.from({ length: 1_000_000 }, (_, key) => `"${key}":0`).join()}}`),
    'larger than 3 MiB|more than 150000 values and keys',
  ],
  ['answers null', body('null'), 'the answer is not a Kubernetes object with valid metadata$'],
  ['answers a list', body('[{}]'), 'the answer is not a Kubernetes object with valid metadata$'],
  ['answers a text', body('"<html>"'), 'the answer is not a Kubernetes object with valid metadata$'],
  ['answers a number that is too large for one', body('1e999'), 'the answer is not a Kubernetes object'],
  ['has a name that is a number', body('{"metadata":{"name":1e308}}'), 'with valid metadata$'],
  ['has labels that are not texts', body('{"metadata":{"name":"b","labels":{"a":{}}}}'), 'with valid metadata$'],
  ['has finalizers that are an object', body('{"metadata":{"finalizers":{"length":1e9}}}'), 'with valid metadata$'],
  ['has halves of characters', body(object(',"data":{"a":"\\ud800"}')), '^resolved$'],
  ['sends a second object after the first', body(`${object('')}${object('')}`), 'the answer is not JSON$'],
  [
    'redirects',
    body('', '302 Found', { location: 'https://169.254.169.254/' }),
    ': 302: the answer is not a Kubernetes Status',
  ],
  [
    'redirects for ever',
    body('', '308 Permanent Redirect', { location: '/' }),
    ': 308: the answer is not a Kubernetes Status',
  ],
  [
    'switches protocols',
    body('', '101 Switching Protocols', { upgrade: 'x', connection: 'upgrade' }),
    'no answer from the shoot',
  ],
  ['compresses what was not asked for', body('\u001f\u008b', '200 OK', { 'content-encoding': 'gzip' }), 'not JSON$'],
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
  [
    'fails with a Status of odd types',
    body('{"kind":"Status","message":[],"details":7}', '500 X'),
    ': 500: no message$',
  ],
];

test('an answer in pieces as small as servers send them is read, however large it is', async () => {
  const pieces = Array.from({ length: 2000 }, () => `200\r\n${'x'.repeat(512)}\r\n`).join('');
  const [begin, end] = ['{"metadata":{"name":"b"},"data":{"a":"', '"}}'];
  const text = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
  const chunked = `${text(begin)}${pieces}${text(end)}0\r\n\r\n`;
  const client = await shootWith(body(chunked, '200 OK', { 'transfer-encoding': 'chunked' }));
  const found = await client.find<KubeObject & { data: { a: string } }>(configMaps, name);
  expect(found?.data.a).toHaveLength(2000 * 512);
});

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
  ['that is a text', '"items"', 'is not a list of Kubernetes objects$'],
  ['whose items have no name', '{"items":[{"metadata":{}}]}', 'with valid metadata$'],
  ['with a version that is a list', '{"metadata":{"resourceVersion":[]},"items":[]}', '^resolved$'],
];

test.each(hostileLists)('a list %s ends in one sentence', async (_, text, sentence) => {
  const client = await shootWith(body(text));
  const outcome = await client.list(configMaps).then(
    () => 'resolved',
    (error: Error) => error.message,
  );
  expect(outcome).toMatch(new RegExp(sentence));
});

test('a list of small objects without end is left after 10,000 of them', async () => {
  const client = await shootWith((socket) => {
    socket.write(`${head()}{"items":[`);
    stream(socket, '{"metadata":{"name":"a"}},'.repeat(2000));
  });
  let items = 0;
  await expect(client.list(configMaps, { onItem: () => items++ })).rejects.toThrow(
    'GET configmaps: the shoot has answered with more than 10000 objects, so the list is not read',
  );
  expect(items).toBe(10_000);
});

test('a list that is read item by item may take longer than the time limit, but may not pause for so long', async () => {
  const slow: Script = (socket, request) => {
    socket.write(`${head()}{"metadata":{},"items":[{"metadata":{"name":"a"}}`);
    const drip = setInterval(() => socket.write(',{"metadata":{"name":"a"}}'), 100);
    socket.on('close', () => clearInterval(drip));
    setTimeout(() => {
      clearInterval(drip);
      if (request.includes('limit=1')) socket.end(']}');
    }, 900);
  };
  const client = await shootWith(slow, { timeoutMs: 500 });
  let items = 0;
  const onItem = () => void items++;
  await expect(client.list(configMaps, { limit: 1, onItem })).resolves.toBeDefined();
  expect(items).toBeGreaterThan(5);
  await expect(client.list(configMaps, { limit: 2, onItem })).rejects.toThrow('within 0.5 s');
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

test('shoots whose large answers stop growing do not keep those of another project waiting', async () => {
  const largeAnswers = createTurns(4);
  const stalling: Script = (socket) =>
    void socket.write(`${head()}{"metadata":{"name":"b"},"a":"${'x'.repeat(200_000)}`);
  const stalled = await shootWith(stalling, { timeoutMs: 8000, largeAnswers: turnsOf('stalling', largeAnswers) });
  const healthy = await shootWith(body(object(`,"a":"${'x'.repeat(200_000)}"`)), {
    ...{ timeoutMs: 5000, largeAnswers: turnsOf('healthy', largeAnswers) },
  });
  const answers = Array.from({ length: 40 }, () =>
    stalled.find(configMaps, name).catch((error: Error) => error.message),
  );
  while (!largeAnswers.areWanted()) await sleep(10);
  await expect(healthy.find(configMaps, name)).resolves.toMatchObject({ metadata: { name: 'b' } });
  expect(await Promise.race(answers)).toMatch(
    new RegExp(`^GET configmaps a/b: no complete answer from ${host}\\) while others waited$`),
  );
});

/** Calls so many shoots at once, in a process of their own. */
async function callTogether(api: HostileApi, shoots: number, options: string[] = []) {
  const program = join(import.meta.dirname, 'hostile-shoots.ts');
  const process_ = await promisify(execFile)(process.execPath, [...options, program, api.url, String(shoots)], {
    timeout: 300_000,
  });
  await api[Symbol.asyncDispose]();
  return JSON.parse(process_.stdout) as { grownMb: number; longestMs: number; sentences: string[] };
}

test.each([
  ['an answer in chunks of one byte', `${head('200 OK', { 'transfer-encoding': 'chunked' })}${pieces}`],
  ['informational answers', informational],
])(
  'twenty-five shoots that send %s at once leave others their turn',
  async (_, text) => {
    const bytes = Buffer.from(text);
    const api = await startHostileApi(selfSigned(), (socket) => stream(socket, bytes));
    const { longestMs, sentences } = await callTogether(api, 25);
    expect(sentences).toHaveLength(1);
    expect(longestMs).toBeLessThan(50);
  },
  60_000,
);

test('twenty shoots that stream without end at once take less than 64 MB of memory', async () => {
  const api = await startHostileApi(selfSigned(), (socket, request) => {
    // Text, many small values, and an answer that stops growing and keeps its turn.
    const kind = Number(/configmaps\/(\d+)/.exec(request)?.[1] ?? 0) % 3;
    socket.write(`${head()}{"metadata":{"name":"b"},"a":${kind === 1 ? '[' : '"'}`);
    if (kind === 2) socket.write('x'.repeat(2_900_000));
    else stream(socket, (kind === 1 ? '{},' : 'xxx').repeat(20_000));
  });
  const { grownMb, sentences } = await callTogether(api, 20, ['--max-old-space-size=100', '--expose-gc']);
  expect(sentences.length).toBeGreaterThan(0);
  for (const sentence of sentences) {
    expect(sentence).toMatch(
      /larger than 3 MiB|more than 150000 values and keys|no (complete answer|answer|connection) (from|to) the shoot/,
    );
  }
  expect(grownMb).toBeLessThan(64);
});
