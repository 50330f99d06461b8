export { createGitClient } from './git-fetch.ts';
export { startKustomizeController } from './kustomize-controller.ts';
export { startSourceController } from './source-controller.ts';
