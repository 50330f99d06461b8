import type { Socket } from 'node:net';

/** Others may wait so long for the work on one piece. */
const TURN_MS = 5;

/** TLS receives pieces of this size; without it they are larger. */
const LARGEST_PIECE = 16 * 1024;

/** A socket that holds pieces; each owner's take turns, and so do the owners. */
const waiting = new Map<string, Set<() => void>>();
let turnBegan = 0;
let isScheduled = false;

/**
 * Lets a socket hand on what it receives piece by piece, with a turn of the event loop between the pieces once they take
 * long. HTTP is parsed where it arrives, before any code of ours sees it: 16 KiB of chunks of one byte, or of
 * informational answers, take up to 9 ms, and many shoots can send them in the same moment.
 * @param owner owners take turns, so that the sockets of one do not delay those of the others
 */
export function takeTurns(socket: Socket, owner: string): void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  const pieces: unknown[] = [];
  const wait = () => addWaiting(owner, handOn);
  const handOn = () => {
    while (pieces.length > 0 && !socket.isPaused() && !socket.destroyed) {
      push(pieces.shift());
      if (performance.now() - turnBegan > TURN_MS) break;
    }
    if (socket.destroyed) pieces.length = 0;
    if (pieces.length > 0 && !socket.isPaused()) wait();
  };
  socket.push = (piece: unknown) => {
    if (piece instanceof Buffer && piece.length > LARGEST_PIECE) {
      for (let at = 0; at < piece.length; at += LARGEST_PIECE) pieces.push(piece.subarray(at, at + LARGEST_PIECE));
      if (!socket.isPaused()) wait();
      return false;
    }
    if (pieces.length === 0 && !socket.isPaused() && performance.now() - turnBegan < TURN_MS) return push(piece);
    pieces.push(piece);
    if (!socket.isPaused()) wait();
    return false;
  };
  // Nothing more is read from the network until the last piece is handed on, after which Node.js asks again: what is sent
  // faster than it is parsed would pile up here.
  socket._read = (size) => {
    if (pieces.length === 0) read(size);
  };
  // What follows a pause would be handed on at once otherwise.
  socket.on('resume', () => {
    if (pieces.length > 0) wait();
  });
}

function addWaiting(owner: string, handOn: () => void): void {
  const sockets = waiting.get(owner) ?? new Set();
  waiting.set(owner, sockets.add(handOn));
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    turnBegan = performance.now();
    try {
      // Others may use up each turn: with one socket in each, those of a hundred calls would wait for a second.
      while (waiting.size > 0 && performance.now() - turnBegan < TURN_MS) nextWaiting()?.();
    } finally {
      if (waiting.size > 0) schedule();
    }
  });
}

/** Takes the next socket of the next owner. */
function nextWaiting(): (() => void) | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [owner, sockets] = first;
  const [handOn] = sockets;
  waiting.delete(owner);
  if (handOn === undefined) return undefined;
  sockets.delete(handOn);
  if (sockets.size > 0) waiting.set(owner, sockets);
  return handOn;
}
