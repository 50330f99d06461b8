import { join } from 'node:path';

/** The landscape's small Flux release: a folder of releases, as `--flux-distribution` takes it, and its only version. */
export const standInDistribution = { folder: join(import.meta.dirname, 'distribution'), version: 'v2.9.99' };
