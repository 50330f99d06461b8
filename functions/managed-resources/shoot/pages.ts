import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import type { KubeObject, Resource } from '../../../shared/kube/resource.ts';

/** Few enough to fit into memory, whatever the objects hold; each page is handled before the next one is read. */
const PAGE_SIZE = 250;

/** Reads all objects of a kind in the shoot, page by page; none where the kind is not served any more. */
export async function* pages(
  shoot: KubeClient,
  kind: Resource,
  options: { metadataOnly?: boolean } = {},
): AsyncGenerator<KubeObject[], void, undefined> {
  let next: string | undefined;
  do {
    const page = await unlessGone(shoot.list(kind, { ...options, limit: PAGE_SIZE, continue: next }));
    if (page === undefined) return;
    yield page.items;
    next = page.continue;
  } while (next !== undefined);
}
