export type { Controller } from './controller.ts';
export { createDiscovery, type Discovery } from './discovery.ts';
export { type Handlers, type Informer, startInformer } from './informer.ts';
export { nameOf, objectText } from './names.ts';
