import { join } from 'node:path';
import { sharedData } from '../../real/shared-data.ts';

/** The Flux releases that a bench works with: real ones where they lie beside the repository, else the small stand-in. */
export const fluxDistribution = sharedData('flux') ?? join(import.meta.dirname, '../../landscape/distribution');
