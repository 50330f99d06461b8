import type { KubeClient, ListOptions } from '../../shared/kube/client.ts';
import { ClusterDownError, GoneError, KubeError, UnreachableError } from '../../shared/kube/errors.ts';
import { createPageSize } from './page-size.ts';
import type { Selection } from './selections.ts';
import type { Tracker } from './tracker.ts';

/** A complete list. */
export interface Listed {
  /** Where a watch continues. */
  resourceVersion: string;
  /** False if the API server dropped the version of the list on the way: changes of its first pages may be missing. */
  isConsistent: boolean;
}

/** Lists one selection into its tracker, page by page. */
export interface Lister {
  /** Continues where the last call failed. @throws typed errors */
  list(client: KubeClient, signal: AbortSignal): Promise<Listed>;
}

/** A list under way. */
interface Position {
  complete(resourceVersion: string): void;
  /** Undefined: the first page. */
  next: string | undefined;
  /** Of the first page; of the last one if the list is not consistent. */
  resourceVersion: string | undefined;
  isConsistent: boolean;
}

/** What a lister reports. */
export interface ListProgress {
  /** The API server has sent an object, or the end of a page. */
  onObject(): void;
  /** The list is a page further than ever before. */
  onPage(): void;
  /** The API server has sent an object that cannot be read. It is skipped: other tenants' objects follow. */
  onUnreadable(error: Error): void;
}

export function createLister(selection: Selection, tracker: Tracker, progress: ListProgress): Lister {
  const { onObject, onPage, onUnreadable } = progress;
  const { metadataOnly, labelSelector, fieldSelector } = selection;
  const size = createPageSize();
  let position: Position | undefined;
  let hasStartedOver = false;

  const begin = (): Position => {
    const { complete } = tracker.beginList();
    return { complete, next: undefined, resourceVersion: undefined, isConsistent: true };
  };

  /** Returns true for the last page. */
  const page = async (client: KubeClient, at: Position, signal: AbortSignal): Promise<boolean> => {
    let items = 0;
    let bytes = 0;
    const onItem: ListOptions['onItem'] = (object, itemBytes) => {
      // An answer that was given up may still arrive.
      if (signal.aborted || position !== at) return;
      items++;
      bytes += itemBytes;
      onObject();
      tracker.observe(object);
    };
    const options = { limit: size.limit(), metadataOnly, labelSelector, fieldSelector, onItem, onUnreadable };
    const answer = await abortable(client.list(selection.resource, { ...options, continue: at.next }), signal);
    onObject();
    if (answer.resourceVersion === '') {
      throw new UnreachableError(`The list of ${selection.resource.plural} has no resourceVersion`, 0, 'InvalidAnswer');
    }
    size.arrived(items, bytes);
    if (at.resourceVersion === undefined || !at.isConsistent) at.resourceVersion = answer.resourceVersion;
    at.next = answer.continue;
    if (!hasStartedOver) onPage();
    return at.next === undefined;
  };

  /** Decides where the next call continues after this one failed. */
  const failed = (at: Position, error: unknown): void => {
    if (mayBeTooLarge(error)) size.failed();
    if (at.next === undefined) return;
    if (error instanceof GoneError && error.continue !== undefined) {
      at.next = error.continue;
      at.isConsistent = false;
    } else if (error instanceof GoneError || (error instanceof KubeError && error.status === 400)) {
      position = undefined;
      hasStartedOver = true;
    }
  };

  return {
    async list(client, signal) {
      position ??= begin();
      const at = position;
      try {
        while (!(await page(client, at, signal)));
      } catch (error) {
        if (!signal.aborted) failed(at, error);
        throw error;
      }
      position = undefined;
      hasStartedOver = false;
      const resourceVersion = at.resourceVersion ?? '';
      at.complete(resourceVersion);
      return { resourceVersion, isConsistent: at.isConsistent };
    },
  };
}

/** A page that does not arrive in time, or that the API server or a limit of ours refuses, may be too large. */
function mayBeTooLarge(error: unknown): boolean {
  if (error instanceof ClusterDownError || !(error instanceof KubeError)) return false;
  return error.reason === 'AnswerTooLarge' || [0, 413, 500, 504].includes(error.status);
}

/** Returns the promise's result; rejects at once when the signal aborts. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
