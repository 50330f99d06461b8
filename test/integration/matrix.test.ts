import { killedAnywhere } from '../scenarios/killed.ts';
import { matrix } from '../scenarios/world/matrix.ts';

/** Every event of a Shoot's life in every mode and delivery. */
for (const delivery of ['ManagedResource', 'Direct'] as const) {
  killedAnywhere(`delivery ${delivery}`, matrix, ['process'], { delivery });
}
