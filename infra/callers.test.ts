import { once } from 'node:events';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { selfSigned } from '../shared/kube/testing.ts';
import { boundCallers } from './callers.ts';

const request = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;

const servers: [scheme: string, create: () => Server, open: (port: number) => Socket][] = [
  ['HTTP', () => createPlainServer(), (port) => connect(port, '127.0.0.1')],
  [
    'HTTPS',
    () => createServer(selfSigned()),
    (port) => connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }),
  ],
];

test.each(servers)(
  'a caller over %s gets the answers that it waits for, and many that it does not',
  async (_, ...of) => {
    const { socket, seen } = await connected(...of);
    socket.write(['/1', '/2', '/3'].map((path) => request(path)).join('') + request('/4', 'connection: close\r\n'));
    const answers = await text(socket);
    expect(answers.match(/^\/\d/gm)).toEqual(['/1', '/2', '/3', '/4']);
    expect(seen()).toBe(4);
  },
);

test.each(servers)('a caller over %s that waits for no answer is disconnected', async (_, ...of) => {
  const { socket, seen } = await connected(...of);
  socket.on('error', () => {});
  socket.resume();
  for (let count = 0; count < 10; count++) socket.write(request('/').repeat(5000));
  await new Promise((resolve) => socket.once('close', resolve));
  // Those of what was received at once.
  expect(seen()).toBeLessThan(25_000);
});

async function connected(create: () => Server, open: (port: number) => Socket) {
  let requests = 0;
  const server = create();
  server.on('request', ({ url }, response) => {
    requests++;
    setImmediate(() => response.end(`\n${url}\n`));
  });
  boundCallers(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = open((server.address() as AddressInfo).port);
  onTestFinished(() => {
    socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return { socket, seen: () => requests };
}
