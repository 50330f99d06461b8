import type { Bench } from './bench.ts';
import { atRestBench } from './benches/at-rest.ts';
import { fleetBench } from './benches/fleet.ts';
import { hostileBench } from './benches/hostile.ts';
import { lambdaBench } from './benches/lambda.ts';
import { manyBench } from './benches/many.ts';
import { shootBench } from './benches/shoot.ts';

export { fluxReleases } from './landscape/flux-distribution.ts';

/** All benches in the order of the table. */
export const benches: Bench[] = [shootBench, lambdaBench, manyBench, atRestBench, hostileBench, fleetBench];
