export type { Controller as ResourceManager } from '../controllers/work-queue.ts';
export { reconcile } from './reconcile.ts';
export type { FullManagedResource } from './references.ts';
export { startResourceManager } from './start.ts';
export { createTarget } from './target.ts';
