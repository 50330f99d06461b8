import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { test } from 'vitest';
import { startKubeApi } from './kube-api.ts';

test('it stops although a client that was connecting then asks for a watch', async () => {
  const api = await startKubeApi();
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  // The server has taken the connection, and waits for the handshake.
  await sleep(50);
  const stopped = api.stop();
  const client = connectTls({ socket, rejectUnauthorized: false }).on('error', () => {});
  const path = `/api/v1/configmaps?watch=true&resourceVersion=${api.revision()}`;
  client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.token}\r\n\r\n`);
  await stopped;
});
