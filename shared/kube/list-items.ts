import { pieces } from './answer.ts';

// In UTF-8 no other character contains these bytes.
const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket] = Buffer.from('"\\{[}]');

/**
 * Splits the bytes of a list into its items as they arrive. Parsed as a whole, a page of 500 objects takes 20 MB, and the
 * heap never shrinks; item by item it takes one object. Only strings and brackets are scanned; the JSON parser does the
 * rest.
 * @param onItem called with the JSON of each item
 * @param most bytes of one item, and of the list without its items
 */
export function scanItems(onItem: (json: string) => void, most: number, tooLarge: () => Error) {
  const list = pieces(most, tooLarge);
  const item = pieces(most, tooLarge);
  /** 1 inside the list, 2 inside its items, 3 inside an item. */
  let depth = 0;
  let inItems = false;
  let inString = false;
  let escaped = false;
  /** The last string at the top level of the list: before a value, that value's key. */
  let key = '';

  const keep = (piece: Buffer) => {
    if (!inItems) list.add(piece);
    else if (depth > 2) item.add(piece);
  };

  return {
    write(chunk: Buffer): void {
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
          if (depth === 2 && byte === openBracket && key === 'items') {
            keep(chunk.subarray(start, at + 1));
            inItems = true;
          } else if (depth === 3 && inItems) {
            start = at;
          }
        } else if (byte === closeBrace || byte === closeBracket) {
          depth--;
          if (depth === 2 && inItems) {
            item.add(chunk.subarray(start, at + 1));
            onItem(item.take().toString('utf8'));
          } else if (depth === 1 && inItems) {
            inItems = false;
            start = at;
          }
        }
      }
      if (inString && depth === 1) key += chunk.toString('latin1', stringStart);
      keep(chunk.subarray(start));
    },
    /** Returns the JSON of the list, without its items. */
    end: (): string => list.take().toString('utf8'),
  };
}
