export { createDiscovery, type Discovery } from './discovery.ts';
export { type Handlers, type Informer, startInformer } from './informer.ts';
export type { Controller } from './work-queue.ts';
export { nameOf, objectText } from './work-queue.ts';
