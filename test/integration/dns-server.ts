import { createSocket } from 'node:dgram';

/** A DNS server for tests that answers queries for addresses. */
export interface DnsServer extends AsyncDisposable {
  /** As a resolver takes it: `127.0.0.1:port`. */
  address: string;
  /** The names that were asked for, with the type, such as `A git.example.org`. */
  queries: string[];
}

const types: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };

/**
 * Starts a DNS server on 127.0.0.1.
 * @param answer returns the addresses of a name, all IPv4 for `A`; undefined: it never answers
 */
export async function startDnsServer(
  answer: (type: 'A' | 'AAAA', name: string) => string[] | undefined,
): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, end } = questionIn(message);
    const type = types[message.readUInt16BE(end)];
    queries.push(`${type} ${name}`);
    const addresses = type === undefined ? [] : answer(type, name);
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
