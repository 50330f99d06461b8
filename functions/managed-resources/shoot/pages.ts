import type { KubeClient, ListOptions, ObjectList } from '../../../shared/kube/client.ts';
import { AnswerTooLargeError, unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';

/** Few enough to fit into memory, whatever the objects hold; each page is handled before the next one is read. */
const PAGE_SIZE = 250;

/** How a kind is read, and for how long. */
interface PageOptions {
  metadataOnly?: boolean;
  isTimeUp: () => boolean;
  /** True: a kind that is not served is an error, because it may have objects all the same. */
  mustBeServed?: boolean;
}

/**
 * Reads all objects of a kind in the shoot, page by page; none where the kind is not served any more. One deadline
 * counts for all pages but the first: an owner of a shoot decides how many there are.
 * @param act handles a page; false ends the reading
 * @returns false when a page was not read, or `act` returned false
 */
export async function everyPage(
  shoot: KubeClient,
  kind: Resource,
  { isTimeUp, mustBeServed, ...options }: PageOptions,
  act: (items: KubeObject[]) => Promise<boolean>,
): Promise<boolean> {
  let next: string | undefined;
  let limit = PAGE_SIZE;
  do {
    if (next !== undefined && isTimeUp()) return false;
    const answer = smallEnoughPage(shoot, kind, { ...options, limit, continue: next });
    const page = await (mustBeServed === true ? answer : unlessGone(answer));
    if (page === undefined) return true;
    if (!(await act(page.items))) return false;
    next = page.continue;
    limit = page.limit;
  } while (next !== undefined);
  return true;
}

/**
 * Calls a function for every object of a kind that is wanted.
 * @returns false when the time was up before
 */
export function everyObject(
  shoot: KubeClient,
  kind: Resource,
  options: PageOptions,
  isWanted: (item: KubeObject) => boolean,
  act: (item: KubeObject) => Promise<unknown>,
): Promise<boolean> {
  return everyPage(shoot, kind, options, async (items) => {
    const wanted = items.filter(isWanted);
    return (await inParallel(wanted, act, options.isTimeUp)).length === wanted.length;
  });
}

/** Lists a page, with ever fewer objects while it is larger than an answer may be. Returns also how many it asked for. */
async function smallEnoughPage(
  shoot: KubeClient,
  kind: Resource,
  { limit, ...options }: ListOptions & { limit: number },
): Promise<ObjectList & { limit: number }> {
  try {
    return { ...(await shoot.list(kind, { ...options, limit })), limit };
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError) || limit === 1) throw error;
    return smallEnoughPage(shoot, kind, { ...options, limit: Math.ceil(limit / 4) });
  }
}
