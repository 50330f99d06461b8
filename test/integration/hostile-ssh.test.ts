import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGitServer } from '@shoot-flux/landscape/git';
import { expect, test } from 'vitest';
import { keyPresentedTo, scanHostKey } from '../../functions/keys/scan.ts';
import { scanPolicy } from '../../functions/keys/scan-policy.ts';
import { asRun, onActivity } from '../../shared/runtime/activity.ts';
import { sshString } from '../../shared/ssh/public-key.ts';

const policy = scanPolicy({ mode: 'on', allow: ['127.0.0.1'], deny: [] });
interface HostileServer extends AsyncDisposable {
  port: number;
  connections: number;
  open: Set<Socket>;
}

/** A server that treats each connection like this. */
async function hostile(serve: (socket: Socket) => void): Promise<HostileServer> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    hostileServer.connections++;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    // Otherwise it would not notice that the client has left.
    socket.resume();
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hostileServer: HostileServer = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return hostileServer;
}

/** A packet before keys are exchanged (RFC 4253, section 6). */
function packet(payload: Uint8Array): Buffer {
  const padding = 8 - ((payload.length + 5) % 8) + 8;
  const header = Buffer.alloc(5);
  header.writeUInt32BE(payload.length + padding + 1);
  header[4] = padding;
  return Buffer.concat([header, payload, Buffer.alloc(padding)]);
}

function kexInit(kex = 'curve25519-sha256'): Buffer {
  const lists = [
    kex,
    'ssh-ed25519',
    'aes128-ctr',
    'aes128-ctr',
    'hmac-sha2-256',
    'hmac-sha2-256',
    'none',
    'none',
    '',
    '',
  ];
  return packet(Buffer.concat([Buffer.from([20]), Buffer.alloc(16), ...lists.map(sshString), Buffer.alloc(5)]));
}

/** Offers this key exchange, and answers the first message of the key exchange with these bytes. */
function exchange(kex: string, answer: (socket: Socket) => void) {
  return (socket: Socket) => {
    let received = Buffer.alloc(0);
    let answered = false;
    socket.write('SSH-2.0-hostile\r\n');
    socket.write(kexInit(kex));
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      const start = received.indexOf('\r\n') + 2;
      const first = start > 1 && received.length > start + 4 ? start + 4 + received.readUInt32BE(start) : Infinity;
      if (answered || received.length <= first) return;
      answered = true;
      answer(socket);
    });
  };
}

const ed25519 = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(32, 7))]);
const signature = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(64, 5))]);
const unsigned = packet(
  Buffer.concat([Buffer.from([31]), sshString(ed25519), sshString(Buffer.alloc(32, 9)), sshString(signature)]),
);

function endless(socket: Socket, chunk: Uint8Array | string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}

const largePrime = packet(Buffer.concat([Buffer.from([31]), sshString(Buffer.alloc(16_000, 0x7f)), sshString('\x02')]));

const servers: Record<string, (socket: Socket) => void> = {
  'closes at once': (socket) => socket.destroy(),
  'says nothing': () => {},
  'writes lines without end': (socket) => endless(socket, `${'x'.repeat(1000)}\r\n`),
  'sends its algorithms without end': (socket) => {
    socket.write('SSH-2.0-x\r\n');
    endless(socket, kexInit());
  },
  'offers only group exchange, with a prime of 128,000 bits': exchange(
    'diffie-hellman-group-exchange-sha256',
    (socket) => socket.write(largePrime),
  ),
  'presents a host key that it does not hold': exchange('curve25519-sha256', (socket) => socket.write(unsigned)),
};

test.each(Object.entries(servers))('a server that %s is left in time, and gives no key', async (_, serve) => {
  await using server = await hostile(serve);
  expect(await keyPresentedTo('127.0.0.1', server.port, AbortSignal.timeout(3000))).toBeUndefined();
  expect(server.connections).toBe(1);
  await expect.poll(() => server.open.size).toBe(0);
});

test.each(['closes at once', 'says nothing'])('a server that %s takes the time of all failures', async (name) => {
  await using server = await hostile(servers[name] ?? (() => {}));
  const before = performance.now();
  const host = { host: '127.0.0.1', port: server.port };
  const options = { policy, signal: AbortSignal.timeout(20_000), timeoutMs: 1000 };
  expect(await scanHostKey(host, options)).toBeUndefined();
  expect(performance.now() - before).toBeGreaterThan(990);
});

test('an address that is not permitted is never contacted, and gives no key after the same time', async () => {
  await using server = await hostile(() => {});
  const options = { policy: scanPolicy(), signal: AbortSignal.timeout(20_000), timeoutMs: 300 };
  for (const host of ['127.0.0.1', '::ffff:127.0.0.1', '::1', '0.0.0.0', 'no such name']) {
    const before = performance.now();
    expect(await scanHostKey({ host, port: server.port }, options)).toBeUndefined();
    expect(performance.now() - before).toBeGreaterThan(295);
  }
  await sleep(50);
  expect(server.connections).toBe(0);
});

const types: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };

/**
 * Starts a DNS server on 127.0.0.1.
 * @param answer returns the addresses of a name, all IPv4 for `A`; undefined: it never answers
 */
async function startDnsServer(answer: (type: 'A' | 'AAAA') => string[] | undefined) {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, end } = questionIn(message);
    const type = types[message.readUInt16BE(end)];
    queries.push(`${type} ${name}`);
    const addresses = type === undefined ? [] : answer(type);
    if (addresses === undefined) return;
    const records = addresses.map((text) => record(text));
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, message.subarray(12, end + 4), ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    /** The names that were asked for, with the type, such as `A git.example.org`. */
    queries,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** Reads the name of the only question (RFC 1035, 4.1.2) and where it ends. */
function questionIn(message: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** An A record for the name of the question. */
function record(address: string): Buffer {
  const bytes = Buffer.from(address.split('.').map(Number));
  const fixed = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([fixed, bytes]);
}

const scanByName = (port: number, dns: string, permits: (address: string) => boolean, timeoutMs = 5000) =>
  scanHostKey(
    { host: 'git.example.org', port },
    {
      policy: { isOn: true, permits: (_, address) => permits(address) },
      signal: AbortSignal.timeout(20_000),
      timeoutMs,
      dnsServers: [dns],
    },
  );

test('a name is resolved once, and the connection goes to the address that was checked', async () => {
  const git = await startGitServer();
  const repository = await git.createRepository('fleet', { 'README.md': '# fleet' });
  let asked = 0;
  // The second answer would lead elsewhere.
  await using dns = await startDnsServer((type) => (type === 'A' ? [asked++ === 0 ? '127.0.0.1' : '127.0.0.2'] : []));
  const checked: string[] = [];
  const port = Number(new URL(repository.sshUrl).port);
  const key = await scanByName(port, dns.address, (address) => checked.push(address) > 0);
  expect(key).toMatchObject({ type: 'ssh-ed25519' });
  expect(checked).toEqual(['127.0.0.1']);
  expect(dns.queries.filter((query) => query === 'A git.example.org')).toHaveLength(1);
  await git.stop();
});

test.each<[string, (type: 'A' | 'AAAA') => string[] | undefined]>([
  ['one of its addresses is refused', (type) => (type === 'A' ? ['127.0.0.1', '10.0.0.1'] : [])],
  ['it has hundreds of addresses', (type) => (type === 'A' ? Array(400).fill('10.0.0.1') : [])],
  ['it has no address', () => []],
  ['its DNS server never answers', () => undefined],
])('a name is not contacted when %s, and gives no key after the same time', async (_, answer) => {
  await using server = await hostile(() => {});
  await using dns = await startDnsServer(answer);
  const policy = (address: string) => address !== '10.0.0.1';
  const before = performance.now();
  expect(await scanByName(server.port, dns.address, policy, 1000)).toBeUndefined();
  expect(performance.now() - before).toBeGreaterThan(990);
  expect(server.connections).toBe(0);
});

test('each answer of a server is charged to the run that asked for it', async () => {
  const runs: number[] = [];
  onActivity((number) => runs.push(number));
  await using server = await hostile(exchange('curve25519-sha256', (socket) => socket.write(unsigned)));
  const scan = asRun(7, () => keyPresentedTo('127.0.0.1', server.port, AbortSignal.timeout(1500)));
  asRun(8, () => {});
  await scan;
  expect(runs.slice(0, 2)).toEqual([7, 8]);
  expect(runs.at(-1)).toBe(7);
});
