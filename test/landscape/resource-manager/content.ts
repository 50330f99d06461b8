import { createHash } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import type { KubeObject } from '../client/client.ts';

/** A Secret of a ManagedResource, as read from the API. */
export interface ContentSecret extends KubeObject {
  data?: Record<string, string>;
}

/**
 * Reads every key of every Secret in sorted order; a key that ends in `.br` is Brotli (rule 3.3). Each document is JSON.
 * @returns the objects of the set, and a checksum of the data
 */
export function decodeContent(secrets: readonly ContentSecret[]) {
  const hash = createHash('sha256');
  const objects: KubeObject[] = [];
  for (const { data = {} } of secrets) {
    for (const key of Object.keys(data).sort()) {
      const bytes = Buffer.from(data[key] ?? '', 'base64');
      const text = (key.endsWith('.br') ? brotliDecompressSync(bytes) : bytes).toString('utf8');
      const documents = text.split(/^---$/m).filter((document) => document.trim() !== '');
      hash.update(bytes);
      objects.push(...documents.map((document) => JSON.parse(document)));
    }
  }
  return { objects, checksum: hash.digest('hex') };
}
