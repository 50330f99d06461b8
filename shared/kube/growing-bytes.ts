/** Bytes that arrive in pieces. */
export interface GrowingBytes {
  add(piece: Buffer): void;
  /** Returns what was added. */
  all(): Buffer;
  /** Number of bytes that were added. */
  readonly length: number;
  /** Forgets what was added. */
  clear(): void;
}

const SMALL = 1024;
const BLOCK = 16 * 1024;

/**
 * Joins small pieces in blocks, and keeps others as they are. A list of all pieces would need hundreds of bytes for each,
 * and a server chooses how small they are: three million of one byte took more than half a gigabyte. In one buffer that
 * doubles, each object of 1 MB left 3 MB of garbage more. Most answers are one piece, which needs no block.
 */
export function createGrowingBytes(): GrowingBytes {
  let pieces: Buffer[] = [];
  let block = Buffer.alloc(0);
  /** The block holds a piece from here up to `used`, which is not among the pieces yet. */
  let from = 0;
  let used = 0;
  let length = 0;

  const closePiece = () => {
    if (used > from) pieces.push(block.subarray(from, used));
    from = used;
  };

  return {
    add(piece) {
      length += piece.length;
      const isFirst = pieces.length === 0 && used === from;
      if (isFirst || piece.length >= SMALL) {
        closePiece();
        pieces.push(piece);
        return;
      }
      if (piece.length > block.length - used) {
        closePiece();
        block = Buffer.allocUnsafeSlow(BLOCK);
        from = 0;
        used = 0;
      }
      used += piece.copy(block, used);
    },
    all() {
      closePiece();
      const [only] = pieces;
      return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
    },
    get length() {
      return length;
    },
    clear() {
      pieces = [];
      from = used;
      length = 0;
    },
  };
}
