import * as z from 'zod/mini';

/**
 * What a newer minor version may add to a change: flags, counts, times, and short names in lower case. Objects, lists,
 * keys, certificates and tokens are none of these, and free text is not either.
 */
const addition = z.union([
  z.boolean(),
  z.int().check(z.nonnegative()),
  z.iso.datetime(),
  z.string().check(z.regex(/^[a-z0-9]([-.a-z0-9]{0,62}[a-z0-9])?$/)),
]);

/** More are no change of ours, which has about ten fields. */
const MOST = 8;

/** True if everything that `sent` has and `known` has not may be dropped: a version that does not know it works without it. */
export function areAdditions(sent: unknown, known: object): boolean {
  const added = Object.entries(sent as object).filter(([name]) => !Object.hasOwn(known, name));
  return added.length <= MOST && added.every(([, value]) => z.safeParse(addition, value).success);
}
