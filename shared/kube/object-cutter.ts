import { createHash, type Hash } from 'node:crypto';
import { oversizedMark } from '../oversized.ts';
import { backslash, closeBrace, closeBracket, colon, comma, openBrace, openBracket, quote } from './json-bytes.ts';

/** An object or list deeper than this is cut with the one that holds it. */
const DEEPEST = 6;

/** Longer keys have no meaning here. */
const LONGEST_KEY = 16;

/** Reads the JSON of one object without its oversized parts, as it arrives. */
export interface ObjectCutter {
  write(chunk: Buffer): void;
  /** Returns the JSON; undefined when it still has too many parts. */
  end(): string | undefined;
}

/** An object or list that is open. */
interface Frame {
  key: string;
  isObject: boolean;
  /** Where it begins in the output. */
  start: number;
  /** Parts before it. */
  parts: number;
}

/**
 * Creates a cutter for one object. `metadata.managedFields` becomes empty; any other object or list with too many parts
 * becomes a mark (`shared/oversized.ts`). The deepest one is cut, so that what is beside it stays readable. `metadata`
 * is never cut, because it names the object, nor is a `status`, which records what was done.
 * @param most parts (`json-parts.ts`) of the result
 * @param above levels around the object, for example 1 in an event of a watch
 */
export function createObjectCutter(most: number, above = 0): ObjectCutter {
  let out = Buffer.allocUnsafe(64 * 1024);
  let size = 0;
  let parts = 0;
  /** Open objects and lists, those of `frames` among them. */
  let depth = 0;
  const frames: Frame[] = [];
  /** The frame that is cut is the last one; its bytes go here. */
  let dropped: Hash | undefined;
  let key = '';
  let inString = false;
  let escaped = false;

  const put = (bytes: Buffer) => {
    if (dropped !== undefined) {
      dropped.update(bytes);
      return;
    }
    if (size + bytes.length > out.length) {
      const larger = Buffer.allocUnsafe(2 * (size + bytes.length));
      out.copy(larger, 0, 0, size);
      out = larger;
    }
    size += bytes.copy(out, size);
  };

  const open = (isObject: boolean) => {
    const parent = frames.at(-1);
    if (dropped === undefined && depth <= DEEPEST + above && frames.length === depth) {
      frames.push({ key: parent?.isObject === true ? key : '', isObject, start: size, parts });
    }
    depth++;
  };

  /** Returns the level of the deepest object or list that has too many parts. */
  const oversized = (): number | undefined => {
    for (let level = frames.length - 1; level > above; level--) {
      const { key: name, parts: before } = frames[level] as Frame;
      const isManagedFields = name === 'managedFields' && frames[level - 1]?.key === 'metadata';
      if (isManagedFields || (parts - before > mostOf(level) && mayBeCut(frames, level, above))) return level;
    }
    return undefined;
  };

  /** A deep one may have less: otherwise the one that holds it, and some more, would be cut first. */
  const mostOf = (level: number): number => (most / 15) * (level - above === 1 ? 12 : 8 - level + above);

  const drop = (level: number) => {
    const { start } = frames[level] as Frame;
    frames.length = level + 1;
    dropped = createHash('sha1').update(out.subarray(start, size));
    size = start;
  };

  const close = () => {
    depth--;
    if (frames.length > depth) frames.length = depth;
  };

  /** Writes the mark in place of the part that has ended. */
  const replace = () => {
    const frame = frames.at(-1) as Frame;
    const digest = dropped?.digest('hex').slice(0, 16) ?? '';
    dropped = undefined;
    parts = frame.parts + 1;
    put(Buffer.from(replacement(frame, frames.at(-2)?.key, digest)));
  };

  return {
    write(chunk) {
      let start = 0;
      let stringStart = 0;
      const flush = (end: number) => {
        put(chunk.subarray(start, end));
        start = end;
      };
      const readKey = (end: number) => {
        if (key.length < LONGEST_KEY)
          key += chunk.toString('latin1', stringStart, Math.min(end, stringStart + LONGEST_KEY));
      };
      const part = (end: number) => {
        parts++;
        if (dropped !== undefined) return;
        const level = oversized();
        if (level === undefined) return;
        flush(end);
        drop(level);
      };
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at];
        if (inString) {
          if (escaped) escaped = false;
          else if (byte === backslash) escaped = true;
          else if (byte === quote) {
            inString = false;
            readKey(at);
          }
        } else if (byte === quote) {
          inString = true;
          stringStart = at + 1;
          key = '';
        } else if (byte === openBrace || byte === openBracket) {
          if (dropped === undefined && depth <= DEEPEST + above) flush(at);
          open(byte === openBrace);
          part(at + 1);
        } else if (byte === closeBrace || byte === closeBracket) {
          if (dropped !== undefined && depth === frames.length) {
            flush(at + 1);
            replace();
          }
          close();
        } else if (byte === comma || byte === colon) part(at + 1);
      }
      if (inString) readKey(chunk.length);
      flush(chunk.length);
    },
    end: () => (parts > most ? undefined : out.toString('utf8', 0, size)),
  };
}

function mayBeCut(frames: Frame[], level: number, above: number): boolean {
  const { key, isObject } = frames[level] as Frame;
  const isInMetadata = frames[level - 1]?.key === 'metadata';
  // That of the object, or of the Shoot in a Cluster.
  const isInStatus = frames.slice(above + 1, Math.min(level, above + 3) + 1).some((frame) => frame.key === 'status');
  return key !== 'metadata' && !isInStatus && (isObject || !isInMetadata);
}

/** Labels and annotations stay a map of texts. */
function replacement({ key }: Frame, parent: string | undefined, digest: string): string {
  if (key === 'managedFields' && parent === 'metadata') return '[]';
  const mark = oversizedMark(digest);
  return JSON.stringify(parent === 'metadata' ? { [mark]: '' } : mark);
}
