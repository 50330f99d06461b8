/** Bytes that arrive in pieces. */
export interface GrowingBytes {
  add(piece: Buffer): void;
  /** Returns what was added, in memory that the next `add` may change. */
  all(): Buffer;
  /** Forgets what was added, and keeps the memory unless it is large: each watch of each cluster has such bytes. */
  clear(): void;
}

const MOST_KEPT = 64 * 1024;

/**
 * Creates one buffer that grows. A list of the pieces would need hundreds of bytes for each, and a server chooses how small
 * they are: three million of one byte took more than half a gigabyte.
 */
export function createGrowingBytes(): GrowingBytes {
  let buffer = Buffer.alloc(0);
  let size = 0;
  return {
    add(piece) {
      const needed = size + piece.length;
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * buffer.length, needed));
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      size += piece.copy(buffer, size);
    },
    all: () => buffer.subarray(0, size),
    clear() {
      size = 0;
      if (buffer.length > MOST_KEPT) buffer = Buffer.alloc(0);
    },
  };
}
