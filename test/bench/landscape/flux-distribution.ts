import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { testData } from '@shoot-flux/landscape/test-data';
import { madeDistribution } from '../../made-distribution.ts';

/** The Flux releases that the bench works with: those of the test data if they exist, else the small stand-in. */
export const fluxReleases = testData('flux') ?? standInDistribution.folder;

/** The same releases as `distribution make` prepares them for operators; deleted when the process ends. */
export const fluxDistribution = await madeDistribution(fluxReleases);
