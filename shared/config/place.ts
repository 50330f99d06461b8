import type { ConfigIssue } from '../errors.ts';

/**
 * Where a part of the configuration is: an object, and the path in it, which is empty for the whole object. A FluxConfig
 * may be a whole object, such as a providerConfig, or a part of one.
 */
export type Place = Pick<ConfigIssue, 'object' | 'path'>;

/** Returns the place of a field below another one. */
export function inside({ object, path }: Place, below: string): Place {
  if (path === '' || below === '') return { object, path: path + below };
  return { object, path: below.startsWith('[') ? path + below : `${path}.${below}` };
}

/** Returns the issue with a field below a place. */
export function issueAt(place: Place, below: string, message: string): ConfigIssue {
  return { ...inside(place, below), message };
}
