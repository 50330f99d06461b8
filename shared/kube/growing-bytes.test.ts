import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { answer } from './answer.ts';
import { shootLimits } from './answer-limits.ts';
import { withCallLimit } from './call-limit.ts';
import { createGrowingBytes } from './growing-bytes.ts';
import { scanItems } from './list-items.ts';
import { resources } from './resource.ts';
import { createTransport } from './transport.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Memory in use, in MB. */
function usedMb(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1_000_000;
}

const LETTERS = 300_000;
const MOST_MB = 20;

/** As TLS delivers records of one byte: each in memory of its own. */
function* letters(): Generator<Buffer> {
  for (let letter = 0; letter < LETTERS; letter++) yield Buffer.alloc(1, 'x');
}

test('an answer in pieces of one byte is left after ten thousand of them', async () => {
  let sent = 0;
  function* body() {
    yield Buffer.from('{"a":"');
    for (const letter of letters()) {
      sent++;
      yield letter;
    }
    yield Buffer.from('"}');
  }
  const options = { name: 'the shoot', limits: shootLimits };
  const transport = createTransport({ server: 'https://shoot.example.org' }, options);
  const request = { method: 'GET', resource: resources.configMaps, name: { namespace: 'a', name: 'b' }, path: '/' };
  const response = Object.assign(Readable.from(body()), {
    statusCode: 200,
    headers: {},
    socket: new EventEmitter(),
  }) as unknown as IncomingMessage;
  const read = withCallLimit({ timeoutMs: 60_000 }, (limit) => answer(transport, request, response, limit));
  await expect(read).rejects.toThrow(
    /^GET configmaps a\/b: the answer of the shoot arrives in pieces of a few bytes, so it is not read; check what sends it$/,
  );
  expect(sent).toBeLessThan(11_000);
});

test('an item of a list in pieces of one byte needs little more memory than its length', () => {
  const before = usedMb();
  const limits = { bytes: 1_000_000, parts: 100, items: 10, exceeded: (what: string) => new Error(what) };
  const items: string[] = [];
  const scanner = scanItems((json) => items.push(json), limits);
  scanner.write(Buffer.from('{"items":[{"a":"'));
  for (const letter of letters()) scanner.write(letter);
  const after = usedMb();
  scanner.write(Buffer.from('"},{"a":"y"}]}'));
  expect(items.map((json) => JSON.parse(json).a.length)).toEqual([LETTERS, 1]);
  expect(JSON.parse(scanner.end())).toEqual({ items: [] });
  expect(after - before).toBeLessThan(MOST_MB);
});

test('pieces of all lengths are joined in their order, and what was forgotten does not return', () => {
  const bytes = createGrowingBytes();
  const lengths = [3, 0, 20_000, 1, 1023, 1024, 1025, ...Array<number>(40).fill(1000), 7, 64_000, 5];
  const texts = lengths.map((length, index) => String.fromCharCode(97 + (index % 26)).repeat(length));
  for (const round of [texts, texts.toReversed(), ['one piece']]) {
    for (const text of round) {
      bytes.add(Buffer.from(text));
      // Reading what has arrived so far changes nothing.
      if (text.length === 1024) bytes.all();
    }
    expect(bytes.all().toString()).toBe(round.join(''));
    expect(bytes.length).toBe(round.join('').length);
    bytes.clear();
    expect([bytes.all().length, bytes.length]).toEqual([0, 0]);
  }
});

test('what was returned stays as it was', () => {
  const bytes = createGrowingBytes();
  bytes.add(Buffer.from('first'));
  const first = bytes.all();
  bytes.clear();
  bytes.add(Buffer.from('second'));
  expect([first, bytes.all()].map(String)).toEqual(['first', 'second']);
});

test('one piece is returned as it is', () => {
  const bytes = createGrowingBytes();
  const piece = Buffer.from('{"kind":"Secret"}');
  bytes.add(piece);
  expect(bytes.all()).toBe(piece);
});
