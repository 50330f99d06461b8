import { describeKilled } from '../scenarios/killed.ts';
import { matrix } from '../scenarios/world/matrix.ts';

/** Every event of a Shoot in every sync mode. */
describeKilled('matrix', matrix, ['process']);
