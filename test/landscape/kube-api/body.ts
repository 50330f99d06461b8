import { parse } from 'yaml';
import { badRequest } from './errors.ts';
import type { Json } from './json.ts';

/** Parses a request body: JSON, or YAML where that is allowed. */
export function parseBody(text: string, contentType: string): Json | undefined {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!contentType.includes('yaml')) {
      throw badRequest(`the body is no JSON: ${error instanceof Error ? error.message : ''}`);
    }
    return parse(text);
  }
}
