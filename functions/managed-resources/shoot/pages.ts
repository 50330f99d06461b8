import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';

/** Few enough to fit into memory, whatever the objects hold; each page is handled before the next one is read. */
const PAGE_SIZE = 250;

/**
 * Reads all objects of a kind in the shoot, page by page; none where the kind is not served any more. One deadline counts
 * for all pages: an owner of a shoot decides how many there are.
 * @param isTimeUp once true, no page but the first is read
 * @param act handles a page; false ends the reading
 * @returns false when a page was not read, or `act` returned false
 */
export async function everyPage(
  shoot: KubeClient,
  kind: Resource,
  { isTimeUp, ...options }: { metadataOnly?: boolean; isTimeUp: () => boolean },
  act: (items: KubeObject[]) => Promise<boolean>,
): Promise<boolean> {
  let next: string | undefined;
  do {
    if (next !== undefined && isTimeUp()) return false;
    const page = await unlessGone(shoot.list(kind, { ...options, limit: PAGE_SIZE, continue: next }));
    if (page === undefined) return true;
    if (!(await act(page.items))) return false;
    next = page.continue;
  } while (next !== undefined);
  return true;
}
