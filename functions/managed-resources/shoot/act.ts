import { ShootFluxError } from '../../../shared/errors.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ConflictError, isRefused, KubeError, unlessGone } from '../../../shared/kube/errors.ts';
import { listPage } from '../../../shared/kube/pages.ts';
import type { KubeObject, ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { fieldManager } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { builtInKinds, parseRef } from './objects.ts';

/**
 * Tries to act in the shoot. One that does not answer, or refuses, holds nothing up, and the log says so.
 * @returns undefined when the shoot has failed, or the control plane holds no kubeconfig
 */
export async function tryInShoot<T>(
  run: Run,
  failure: string,
  act: (shoot: KubeClient) => Promise<T>,
  options?: { timeoutMs: number },
): Promise<T | undefined> {
  try {
    return await withShoot(run, act, options);
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    run.context.log.warn(failure, { error: describeError(error) });
    return undefined;
  }
}

/**
 * Annotates objects of these kinds, as far as they exist. One that the shoot refuses to change holds up no other.
 * @param annotations null removes one
 * @returns false when the time was up before
 */
export async function annotateAll(
  { context, isTimeUp }: Run,
  shoot: KubeClient,
  refs: string[],
  annotations: Record<string, string | null>,
  failure: string,
  kinds = builtInKinds,
): Promise<boolean> {
  const annotate = async (ref: string) => {
    const { type, name } = parseRef(ref);
    const resource = kinds[type];
    if (resource === undefined) return;
    try {
      await unlessGone(shoot.mergePatch(resource, name, { metadata: { annotations } }, { fieldManager }));
    } catch (error) {
      if (!(error instanceof KubeError) || !isRefused(error)) throw error;
      context.log.warn(failure, { object: ref, error: describeError(error) });
    }
  };
  return (await inParallel(refs, annotate, isTimeUp)).length === refs.length;
}

/** How often an object is read again that changes at the same time. */
const ATTEMPTS = 5;

/**
 * Patches an object at the version that was read, which is read first where it is not given.
 * @param patchOf returns the merge patch for what was read; it gets the resourceVersion where it has `metadata`
 */
export async function patchAsRead(
  shoot: KubeClient,
  resource: Resource,
  name: ObjectName,
  patchOf: (metadata: KubeObject['metadata']) => { metadata?: object },
  read?: KubeObject,
): Promise<void> {
  const find = () => shoot.find(resource, name, { metadataOnly: true });
  let live = read ?? (await find());
  for (let attempt = 1; live !== undefined; attempt += 1) {
    const { metadata } = patchOf(live.metadata);
    const { resourceVersion } = live.metadata;
    const patch = metadata === undefined ? {} : { metadata: { ...metadata, resourceVersion } };
    try {
      await unlessGone(shoot.mergePatch(resource, name, patch, { fieldManager }));
      return;
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
    }
    live = await find();
  }
}

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
    const answer = listPage(shoot, kind, { ...options, limit, continue: next });
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
