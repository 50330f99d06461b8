/** How many objects the next page of a list may have. */
export interface PageSize {
  limit(): number;
  /** Takes the size of a page that arrived. */
  arrived(items: number, bytes: number): void;
  /** Takes that a page did not arrive in time, or was too large. */
  failed(): void;
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
export function createPageSize(): PageSize {
  let limit = atFirst;
  let ceiling = most;
  return {
    limit: () => limit,
    arrived(items, bytes) {
      if (items === 0) return;
      ceiling = Math.min(most, Math.ceil(ceiling * recovery));
      const fitting = Math.floor((targetBytes * items) / Math.max(1, bytes));
      limit = Math.max(1, Math.min(fitting, limit * growth, ceiling));
    },
    failed() {
      limit = Math.max(1, Math.floor(limit / 2));
      ceiling = limit;
    },
  };
}
