/** How many requests one API server gets at once for one Shoot. */
const AT_ONCE = 8;

/**
 * Calls a function for every item, a few at a time.
 * @param isTimeUp once true, no further call begins after the first few; these always run, so that a run that starts
 * late still makes progress
 * @returns the results in the order of the items; when the time was up, those of the first items only
 * @throws the failure of the first item that failed, in the order of the items, after which no further call begins. Items
 * begin in their order, so it is the same one each time, whichever call was faster.
 */
export async function inParallel<T, R>(
  items: T[],
  call: (item: T) => Promise<R>,
  isTimeUp: () => boolean = () => false,
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const failures: { index: number; error: unknown }[] = [];
  const work = async () => {
    for (const [index, item] of rest) {
      if (failures.length > 0 || (index >= AT_ONCE && isTimeUp())) return;
      try {
        results[index] = await call(item);
      } catch (error) {
        failures.push({ index, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  const [first] = failures.toSorted((one, other) => one.index - other.index);
  if (first !== undefined) throw first.error;
  return results;
}
