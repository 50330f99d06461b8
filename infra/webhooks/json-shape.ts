/** More values than two Shoots with all their managed fields have; each takes up to 64 bytes once it is parsed. */
const MAX_VALUES = 100_000;

/** As deep as API servers accept. */
const MAX_DEPTH = 10_000;

const [QUOTE, ESCAPE, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns why a JSON text is not parsed; undefined when it may be. A megabyte of `[],[],…` takes 40 MB of memory, so the
 * values are counted before. The parser rejects a text that is not JSON.
 */
export function shapeProblem(json: Uint8Array): string | undefined {
  let values = 1;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isInText) {
      if (byte === ESCAPE) at += 1;
      else if (byte === QUOTE) isInText = false;
    } else if (byte === QUOTE) isInText = true;
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > MAX_DEPTH) return `The body is nested more than ${MAX_DEPTH} levels deep.`;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (values > MAX_VALUES) return `The body has more than ${MAX_VALUES} values.`;
  }
  return undefined;
}
