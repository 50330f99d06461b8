export type { Controller as ResourceManager } from '../controllers/controller.ts';
export { reconcile } from './reconcile.ts';
export { startResourceManager } from './start.ts';
export { createTarget } from './target.ts';
export type { FullManagedResource } from './types.ts';
