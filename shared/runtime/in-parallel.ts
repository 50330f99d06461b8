/** As many requests as one API server is asked at once for one Shoot. */
const AT_ONCE = 8;

/**
 * Calls for every item, a few at a time; the results in the order of the items.
 * @param isTimeUp once it says so nothing new is begun but the first few, or whoever begins late would never get on:
 * there are results for the first items alone
 * @throws the first failure, after which nothing new is begun
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
