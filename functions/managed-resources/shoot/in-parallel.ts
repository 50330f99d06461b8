/** How many requests one API server gets at once for one Shoot. */
const AT_ONCE = 8;

/**
 * Calls a function for every item, a few at a time.
 * @param isTimeUp once true, no further call begins after the first few; these always run, so that a run that starts
 * late still makes progress
 * @returns the results in the order of the items; when the time was up, those of the first items only
 * @throws the first failure, after which no further call begins
 */
export async function inParallel<T, R>(
  items: T[],
  call: (item: T) => Promise<R>,
  isTimeUp: () => boolean = () => false,
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  let failed = false;
  const work = async () => {
    for (const [index, item] of rest) {
      if (failed || (index >= AT_ONCE && isTimeUp())) return;
      try {
        results[index] = await call(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return results;
}
