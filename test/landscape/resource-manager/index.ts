export { reconcile } from './reconcile.ts';
export { type ResourceManager, startResourceManager } from './start.ts';
export { createTarget, type Target } from './target.ts';
export type { FullManagedResource } from './types.ts';
