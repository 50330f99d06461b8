import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { takeTurns } from './pieces.ts';

/** A stand-in for a connection; each of its pieces takes so many milliseconds. */
function connection(owner: string, onPiece: (piece: string) => void, onRead = () => {}, pieceMs = 6): Readable {
  const socket = new Readable({ read: onRead });
  takeTurns(socket as Socket, owner);
  socket.setEncoding('latin1');
  socket.on('data', (piece: string) => {
    const end = performance.now() + pieceMs;
    while (performance.now() < end);
    onPiece(piece);
  });
  return socket;
}

test('timers have their turn between pieces, and so has each owner', async () => {
  const order: string[] = [];
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = (piece: string) => {
    if (order.push(piece) === 21) resolve();
  };
  for (let index = 0; index < 20; index++) connection('busy', take).push('busy');
  connection('other', take).push('other');
  await promise;
  clearInterval(timer);
  expect(order.indexOf('other')).toBeLessThan(3);
  expect(turns).toBeGreaterThan(10);
});

test('pieces arrive in their order, also after a pause, and then the end', async () => {
  const pieces: string[] = [];
  const socket = connection('one', (piece) => {
    pieces.push(piece);
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  for (const piece of ['a', 'b', 'c', null]) socket.push(piece);
  await new Promise((resolve) => socket.on('end', resolve));
  expect(pieces).toEqual(['a', 'b', 'c']);
});

test('nothing more is asked for while a piece waits', async () => {
  const socket = connection('one', () => {});
  connection('one', () => {}).push('long');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(socket.push('a')).toBe(false);
});

test('nothing is read from the network before the last of the pieces that arrived together is handed on', async () => {
  let handedOn = 0;
  const readAt: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const onRead = () => {
    readAt.push(handedOn);
    if (handedOn === 4) resolve();
  };
  const socket = connection('one', () => handedOn++, onRead);
  socket.push(Buffer.alloc(4 * 16 * 1024));
  await promise;
  expect(readAt).toEqual([4]);
});

test('a hundred sockets whose pieces take no time share a few turns, whatever others do in each', async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  let handedOn = 0;
  for (let index = 0; index < 100; index++) connection('one', () => handedOn++, undefined, 0).push('quick');
  let turns = 0;
  for (; handedOn < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toBeLessThan(30);
});
