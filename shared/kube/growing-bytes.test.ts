import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
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

test('an answer in pieces of one byte needs little more memory than its length', async () => {
  const before = usedMb();
  let after = Number.POSITIVE_INFINITY;
  async function* body() {
    yield Buffer.from('{"a":"');
    yield* letters();
    // What this turn of the event loop has used is freed after it.
    await nextTurn();
    after = usedMb();
    yield Buffer.from('"}');
  }
  const transport = createTransport({ server: 'https://shoot.example.org' }, { limits: shootLimits });
  const request = { method: 'GET', resource: resources.configMaps, name: {}, path: '/' };
  const response = Object.assign(Readable.from(body()), { statusCode: 200, headers: {} }) as unknown as IncomingMessage;
  const read = await withCallLimit({ timeoutMs: 60_000 }, (limit) =>
    answer<{ a: string }>(transport, request, response, limit),
  );
  expect(read.a).toHaveLength(LETTERS);
  expect(after - before).toBeLessThan(MOST_MB);
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

test('pieces are joined in their order, and what was forgotten does not return', () => {
  const bytes = createGrowingBytes();
  for (const piece of ['long beginning', '', ' and', ' end']) bytes.add(Buffer.from(piece));
  expect(bytes.all().toString()).toBe('long beginning and end');
  bytes.clear();
  bytes.add(Buffer.from('new'));
  expect(bytes.all().toString()).toBe('new');
});
