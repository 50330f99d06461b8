import { createGrowingBytes } from './growing-bytes.ts';
import { backslash, closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } from './json-bytes.ts';
import type { ObjectCutter } from './object-cutter.ts';

/** What is scanned at most, and the error for more. */
export interface ScanLimits {
  /** Bytes of one item, and of the list without its items. */
  bytes: number;
  /** Parts of one item (`json-parts.ts`). */
  parts: number;
  /** Number of items. */
  items: number;
  exceeded(what: 'bytes' | 'parts' | 'items'): Error;
  /** Creates what reads an item with too many parts. Default: such an item is an error. */
  cutter?: (() => ObjectCutter) | undefined;
}

/** Splits the bytes of a list into its items as they arrive. */
export interface ItemScanner {
  write(chunk: Buffer): void;
  /** Returns the JSON of the list, without its items. */
  end(): string;
}

/**
 * Creates a scanner of one list. Parsed as a whole, a page of 500 objects takes 20 MB, and the heap never shrinks; item
 * by item it takes one object. Only strings and brackets are scanned; the JSON parser does the rest.
 * @param onItem called with the JSON of each item
 * @param onUnreadable called in place of an error for an item with too many bytes or parts, which is then skipped
 */
export function scanItems(
  onItem: (json: string) => void,
  limits: ScanLimits,
  onUnreadable?: (error: Error) => void,
): ItemScanner {
  const list = createGrowingBytes();
  const item = createGrowingBytes();
  let listBytes = 0;
  let itemBytes = 0;
  let parts = 0;
  let items = 0;
  let isSkipped = false;
  let cutter: ObjectCutter | undefined;
  /** 1 inside the list, 2 inside its items, 3 inside an item. */
  let depth = 0;
  let inItems = false;
  let inString = false;
  let escaped = false;
  /** The last string at the top level of the list: before a value, that value's key. */
  let key = '';

  /** The rest of the item is scanned, and not kept. */
  const exceeded = (what: 'bytes' | 'parts') => {
    if (onUnreadable === undefined || !inItems || depth < 2) throw limits.exceeded(what);
    if (!isSkipped) onUnreadable(limits.exceeded(what));
    isSkipped = true;
    item.clear();
    cutter = undefined;
  };

  const keep = (piece: Buffer) => {
    if (!inItems) {
      listBytes += piece.length;
      if (listBytes > limits.bytes) throw limits.exceeded('bytes');
      list.add(piece);
    } else if (depth > 2) {
      itemBytes += piece.length;
      if (itemBytes > limits.bytes) exceeded('bytes');
      if (cutter !== undefined) cutter.write(piece);
      else if (!isSkipped) item.add(piece);
    }
  };

  const count = () => {
    if (++parts <= limits.parts || cutter !== undefined) return;
    if (limits.cutter === undefined || isSkipped || !inItems || depth < 3) return exceeded('parts');
    cutter = limits.cutter();
    cutter.write(item.all());
    item.clear();
  };

  /** Returns the JSON of the item; undefined when it is skipped. */
  const read = (piece: Buffer): string | undefined => {
    if (isSkipped) return undefined;
    if (cutter === undefined) {
      item.add(piece);
      return item.all().toString('utf8');
    }
    cutter.write(piece);
    const json = cutter.end();
    if (json === undefined) exceeded('parts');
    return json;
  };

  const finish = (piece: Buffer) => {
    if (itemBytes + piece.length > limits.bytes) exceeded('bytes');
    if (++items > limits.items) throw limits.exceeded('items');
    const json = read(piece);
    if (json !== undefined) onItem(json);
    item.clear();
    cutter = undefined;
    itemBytes = 0;
    parts = 0;
    isSkipped = false;
  };

  return {
    write(chunk) {
      let start = 0;
      let stringStart = 0;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === backslash) escaped = true;
          else if (byte === quote) {
            inString = false;
            if (depth === 1) key += chunk.toString('latin1', stringStart, at);
          }
        } else if (byte === quote) {
          inString = true;
          stringStart = at + 1;
          if (depth === 1) key = '';
        } else if (byte === openBrace || byte === openBracket) {
          depth++;
          count();
          if (depth === 2 && byte === openBracket && key === 'items') {
            keep(chunk.subarray(start, at + 1));
            inItems = true;
          } else if (depth === 3 && inItems) {
            start = at;
            parts = 1;
          }
        } else if (byte === closeBrace || byte === closeBracket) {
          depth--;
          if (depth === 2 && inItems) {
            finish(chunk.subarray(start, at + 1));
          } else if (depth === 1 && inItems) {
            inItems = false;
            start = at;
          }
        } else if (byte === comma || byte === colon) count();
      }
      if (inString && depth === 1) key += chunk.toString('latin1', stringStart);
      keep(chunk.subarray(start));
    },
    end: () => list.all().toString('utf8'),
  };
}
