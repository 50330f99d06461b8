import { yieldToOthers } from '../event-loop.ts';
import { createObjectCutter } from './object-cutter.ts';

/** Bytes that are read before others may have their turn. */
const PIECE = 16 * 1024;

/** Yields a text in pieces, between which others have their turn. */
export async function* inTurns(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    await yieldToOthers();
    yield bytes.subarray(at, at + PIECE);
  }
  await yieldToOthers();
}

/** Returns the JSON of one object without its oversized parts; undefined when it still has too many. */
export async function cutJson(json: Buffer, most: number, above = 0): Promise<string | undefined> {
  const cutter = createObjectCutter(most, above);
  for await (const piece of inTurns(json)) cutter.write(piece);
  return cutter.end();
}
