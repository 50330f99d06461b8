import type { IncomingMessage } from 'node:http';

/** More than kube-apiserver sends: two Shoots, of which etcd takes 1.5 MiB each. */
export const MAX_BYTES = 6 * 1024 * 1024;

const FIRST_BYTES = 16 * 1024;

/** So much of each body needs no room; almost all requests are smaller. */
export const FREE_BYTES = 64 * 1024;

/** Room for the larger parts of all bodies that are being received or answered. */
const ROOM_BYTES = 12 * 1024 * 1024;

/** Why a request is not answered with an AdmissionReview. */
export interface Rejection {
  status: number;
  sentence: string;
}

/** The room that the requests of a server share. */
export interface Room {
  /** Returns whether there was room for so many more bytes. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createRoom(size = ROOM_BYTES): Room {
  let free = size;
  return {
    take(bytes) {
      if (bytes > free) return false;
      free -= bytes;
      return true;
    },
    give(bytes) {
      free += bytes;
    },
  };
}

export const tooLong: Rejection = { status: 413, sentence: `The body is longer than ${MAX_BYTES} bytes.` };

const noRoom: Rejection = { status: 503, sentence: 'There are too many large requests at once; send it again.' };

/** Returns why the headers already rule a request out; undefined when its body should be read. */
export function headersProblem({ headers }: Pick<IncomingMessage, 'headers'>): Rejection | undefined {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (type.trim() !== '' && type.trim() !== 'application/json') {
    return { status: 415, sentence: 'Send the AdmissionReview as application/json.' };
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    return { status: 415, sentence: 'Send the AdmissionReview without compression.' };
  }
  // The rest is read and dropped up to twice the limit, or the client would not receive the answer.
  return Number(headers['content-length'] ?? 0) > 2 * MAX_BYTES ? tooLong : undefined;
}

/**
 * Reads a body and gives it to `use`; it occupies room until that is done. The server's time limit for a request ends a
 * body that arrives too slowly.
 */
export async function withBody<T>(
  request: IncomingMessage,
  room: Room,
  use: (body: Buffer) => Promise<T>,
): Promise<T | Rejection> {
  // One buffer that grows: a body in chunks of one byte would become a million small ones.
  let buffer = Buffer.allocUnsafe(FIRST_BYTES);
  let bytes = 0;
  let taken = 0;
  try {
    // By default the iterator destroys the connection when it is left early, and the client gets no answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const from = bytes;
      bytes += chunk.length;
      if (bytes > 2 * MAX_BYTES) return tooLong;
      if (bytes > MAX_BYTES) continue;
      if (bytes > buffer.length) {
        const size = Math.min(MAX_BYTES, Math.max(2 * buffer.length, bytes));
        const needed = Math.max(0, size - FREE_BYTES) - taken;
        if (!room.take(needed)) return noRoom;
        taken += needed;
        const larger = Buffer.allocUnsafe(size);
        buffer.copy(larger, 0, 0, from);
        buffer = larger;
      }
      chunk.copy(buffer, from);
    }
    return bytes > MAX_BYTES ? tooLong : await use(buffer.subarray(0, bytes));
  } finally {
    room.give(taken);
  }
}
