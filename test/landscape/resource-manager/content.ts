import { createHash } from 'node:crypto';
import { brotliDecompressSync } from 'node:zlib';
import { parse } from 'yaml';
import { errorMessage, type KubeObject } from '../client/client.ts';

/** A Secret of a ManagedResource, as read from the API. */
export interface ContentSecret extends KubeObject {
  data?: Record<string, string>;
}

/** The objects of the set, and one sentence for each document that cannot be decoded. */
export interface Content {
  objects: KubeObject[];
  errors: string[];
  /** Checksum of the data of every key that has an object. */
  checksum: string;
}

/** Reads every key of every Secret in sorted order; a key that ends in `.br` is Brotli (rule 3.3). */
export function decodeContent(secrets: readonly ContentSecret[]): Content {
  const hash = createHash('sha256');
  const objects: KubeObject[] = [];
  const errors: string[] = [];
  for (const { metadata, data = {} } of secrets) {
    for (const key of Object.keys(data).sort()) {
      const bytes = Buffer.from(data[key] ?? '', 'base64');
      const text = (key.endsWith('.br') ? brotliDecompressSync(bytes) : bytes).toString('utf8');
      for (const [index, document] of documents(text).entries()) {
        const decoded = decode(document, index > 0 && text.trimStart().startsWith('{'));
        if (decoded === undefined) continue;
        if ('object' in decoded) {
          hash.update(bytes);
          objects.push(decoded.object);
        } else {
          const place = `at index ${index} in '${key}' in secret '${metadata.namespace}/${metadata.name}'`;
          errors.push(`Could not decode resource ${place}: ${decoded.error}.`);
        }
      }
    }
  }
  return { objects, errors, checksum: hash.digest('hex') };
}

function documents(text: string): string[] {
  return text.split(/^---(?:[ \t].*)?$/m).filter((document, index) => index > 0 || document.trim() !== '');
}

/** @param afterJson whether the text follows JSON: text that begins with a brace is one stream of JSON, without separators */
function decode(document: string, afterJson: boolean): { object: KubeObject } | { error: string } | undefined {
  if (afterJson) return { error: "invalid character '-' in numeric literal" };
  try {
    const value: unknown = fromJson(document) ?? parse(document);
    if (value === null || value === undefined) return undefined;
    if (isObject(value)) return { object: value };
    return { error: 'error unmarshaling JSON: while decoding JSON: not an object' };
  } catch (error) {
    return { error: `error converting YAML to JSON: ${errorMessage(error).split('\n')[0]}` };
  }
}

/** Most content is JSON, and the YAML parser takes a second for the CRDs of Flux. */
function fromJson(document: string): unknown {
  if (!document.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(document);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'metadata' in value;
}
