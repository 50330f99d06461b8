import type { KubeClient, ListOptions } from '../../shared/kube/client.ts';
import { ClusterDownError, GoneError, KubeError, UnreachableError } from '../../shared/kube/errors.ts';
import { CONNECT_TIMEOUT } from '../../shared/kube/transport.ts';
import type { Selection } from './selections.ts';
import { type TrackedList, type Tracker, textOf } from './tracker.ts';

/** The list cannot be continued. */
export class StartOverError extends Error {
  override name = 'StartOverError';
}

/** A list under way. */
interface Position {
  list: TrackedList;
  resourceVersion: string;
  /** The token of the next page. Undefined: the first page, or none if the list is complete. */
  next: string | undefined;
  /** The first object of the last page. */
  pageBegan?: string | undefined;
}

/** What a lister reports. */
export interface ListProgress {
  /** The API server has sent an object, or the end of a page. @param take takes it */
  onProgress(take: () => void): void;
  /** The list is a page further than ever before. */
  onPage(): void;
  /** The API server has sent an object that cannot be read. It is skipped: other tenants' objects follow. */
  onUnreadable(error: Error): void;
}

/** Lists one selection into its tracker, page by page. */
export function createLister(selection: Selection, tracker: Tracker, progress: ListProgress) {
  const { onProgress, onPage, onUnreadable } = progress;
  const { namespace, metadataOnly, labelSelector, fieldSelector } = selection;
  const size = createPageSize();
  let position: Position | undefined;
  let hasStartedOver = false;

  const page = async (client: KubeClient, at: Position, signal: AbortSignal): Promise<void> => {
    let items = 0;
    let bytes = 0;
    let pageBegins: string | undefined;
    const onItem: ListOptions['onItem'] = (object, itemBytes) => {
      // An answer that was given up may still arrive.
      if (signal.aborted || position !== at) return;
      items++;
      pageBegins ??= textOf(object);
      bytes += itemBytes;
      onProgress(() => at.list.observe(object));
    };
    const selected = { namespace, metadataOnly, labelSelector, fieldSelector };
    const options = { ...selected, limit: size.limit(), onItem, onUnreadable };
    const answer = await abortable(client.list(selection.resource, { ...options, continue: at.next }), signal);
    onProgress(() => {});
    if (answer.resourceVersion === '') {
      throw new UnreachableError(`The list of ${selection.resource.plural} has no resourceVersion`, 0, 'InvalidAnswer');
    }
    size.arrived(items, bytes);
    at.resourceVersion ||= answer.resourceVersion;
    const isFirst = at.next === undefined;
    const isRepeated = !isFirst && (pageBegins === undefined || pageBegins === at.pageBegan);
    at.pageBegan = pageBegins;
    at.next = answer.continue;
    if (at.next !== undefined && isRepeated) throw nothingNew(selection);
    if (!hasStartedOver) onPage();
    if (at.next !== undefined) return;
    hasStartedOver = false;
    await at.list.complete(at.resourceVersion);
  };

  /** Returns the error that the caller gets, after a decision where the next call continues. */
  const failed = (at: Position, error: unknown): unknown => {
    if (mayBeTooLarge(error)) size.failed();
    if (at.next === undefined || !(error instanceof KubeError)) return error;
    if (error instanceof GoneError && error.continue !== undefined) {
      // The rest at a newer version: what has changed on the first pages comes by the watch.
      at.next = error.continue;
    } else if (error instanceof GoneError || error.status === 400) {
      hasStartedOver = true;
      return new StartOverError(error.message, { cause: error });
    }
    return error;
  };

  const attempt = (client: KubeClient, at: Position, signal: AbortSignal) =>
    page(client, at, signal).catch((error) => {
      throw signal.aborted ? error : failed(at, error);
    });

  return {
    /**
     * Begins a list. Returns its version, from which a watch can begin before the other pages have arrived: then nothing
     * is missed however long they take.
     */
    async first(client: KubeClient, signal: AbortSignal): Promise<string> {
      const at: Position = { list: tracker.beginList(), resourceVersion: '', next: undefined };
      position = at;
      await attempt(client, at, signal);
      return at.resourceVersion;
    },
    /** Lists the other pages; continues where the last call failed. @throws StartOverError, or typed errors */
    async rest(client: KubeClient, signal: AbortSignal): Promise<void> {
      const at = position;
      while (at?.next !== undefined) await attempt(client, at, signal);
    },
    isComplete: (): boolean => position !== undefined && position.resourceVersion !== '' && position.next === undefined,
  };
}

/**
 * Returns the error for an empty page, or one that begins like the page before it, which another one follows. The list
 * continues, but after a pause: nothing else slows down a list that never ends.
 */
function nothingNew({ resource }: Selection): UnreachableError {
  return new UnreachableError(
    `The list of ${resource.plural} has brought a page without new objects and continues after a pause; ` +
      'if this repeats, check what answers at the address of the API server',
    0,
    'InvalidAnswer',
  );
}

/** A page that does not arrive in time, or that the API server or a limit of ours refuses, may be too large. */
function mayBeTooLarge(error: unknown): boolean {
  if (error instanceof ClusterDownError || !(error instanceof KubeError)) return false;
  if (error.status === 0) return !withoutConnection.has(error.reason);
  return error.reason === 'AnswerTooLarge' || [413, 500, 504].includes(error.status);
}

/** Errors that say nothing about the size of pages. */
const withoutConnection = new Set([
  CONNECT_TIMEOUT,
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Returns the promise's result; rejects at once when the signal aborts. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** A page of about this size takes well under a second, and bounds what the API server holds for one request. */
const targetBytes = 3_000_000;
/** Objects are unknown at first: 20 Clusters of 1 MB still arrive in time. */
const atFirst = 20;
const most = 500;
/** Four times as many objects at once, so that a few small ones do not stand for large ones after them. */
const growth = 4;
/** After a failure the limit grows by a quarter with each page, so that a slow server fails only now and then. */
const recovery = 1.25;

/** Adapts the page size of a selection to the size of its objects and to what its API server achieves. */
export function createPageSize() {
  let limit = atFirst;
  let ceiling = most;
  return {
    /** How many objects the next page of a list may have. */
    limit: (): number => limit,
    /** Takes the size of a page that arrived. */
    arrived(items: number, bytes: number): void {
      if (items === 0) return;
      ceiling = Math.min(most, Math.ceil(ceiling * recovery));
      const fitting = Math.floor((targetBytes * items) / Math.max(1, bytes));
      limit = Math.max(1, Math.min(fitting, limit * growth, ceiling));
    },
    /** Takes that a page did not arrive in time, or was too large. */
    failed(): void {
      limit = Math.max(1, Math.floor(limit / 2));
      ceiling = limit;
    },
  };
}
