import { describeKilled } from '../scenarios/killed.ts';
import { matrix } from '../scenarios/world/matrix.ts';

/** Every event of a Shoot in every sync mode and delivery. */
for (const delivery of ['ManagedResource', 'Direct'] as const) {
  describeKilled(`delivery ${delivery}`, matrix, ['process'], { delivery });
}
