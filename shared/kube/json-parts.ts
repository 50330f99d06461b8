const quote = 0x22;
const backslash = 0x5c;

/** `{`, `[`, `,` and `:`: roughly one for each value, and one for each key. */
const isPart = new Uint8Array(256);
for (const byte of Buffer.from('{[,:')) isPart[byte] = 1;

/** Counts the parts of a JSON text outside its strings; stops counting when there are more than `most`. */
export function countParts(json: Uint8Array, most: number): number {
  let parts = 0;
  for (let at = 0; at < json.length && parts <= most; at++) {
    const byte = json[at] as number;
    if (byte === quote) at = endOfString(json, at);
    else parts += isPart[byte] as number;
  }
  return parts;
}

/** Returns the index of the quote that ends the string; the text's length if none does. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === backslash) at++;
    else if (json[at] === quote) return at;
  }
  return json.length;
}
