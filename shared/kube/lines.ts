import { StringDecoder } from 'node:string_decoder';

/** The lines of a byte stream; a character or a line may be cut anywhere. Empty lines are left out. */
export async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  // Pieces of one long line are joined once: adding each to a growing text would make a rope that is flattened often.
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const parts = decoder.write(chunk).split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      const line = pieces.length === 0 ? part : pieces.join('') + part;
      pieces = [];
      if (line.trim() !== '') yield line;
    }
    if (last !== '') pieces.push(last);
  }
  const rest = pieces.join('') + decoder.end();
  if (rest.trim() !== '') yield rest;
}
