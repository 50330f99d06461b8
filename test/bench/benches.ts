import type { Bench } from './bench.ts';
import { bundleBenches } from './benches/bundles.ts';
import { contentBench } from './benches/content.ts';
import { costBench } from './benches/cost.ts';
import { deadSeedBench } from './benches/dead-seed.ts';
import { editBench } from './benches/edit.ts';
import { failingProjectBench } from './benches/failing-project.ts';
import { firstListBench } from './benches/first-list.ts';
import { hostileBench } from './benches/hostile.ts';
import { imageBench } from './benches/image.ts';
import { knativeBench } from './benches/knative.ts';
import { lambdaBench } from './benches/lambda.ts';
import { latencyBench } from './benches/latency.ts';
import { looksBench } from './benches/looks.ts';
import { manyBench } from './benches/many.ts';
import { outageBench } from './benches/outage.ts';
import { requestsBench } from './benches/requests.ts';
import { startBench } from './benches/start.ts';
import { untilReadyBench } from './benches/until-ready.ts';
import { watcherBench } from './benches/watcher.ts';

export { fluxReleases } from './landscape/flux-distribution.ts';

/** Returns all benches in the order of the table. */
export async function benches(): Promise<Bench[]> {
  return [
    ...(await bundleBenches()),
    requestsBench,
    untilReadyBench,
    latencyBench,
    lambdaBench,
    manyBench,
    watcherBench,
    contentBench,
    deadSeedBench,
    outageBench,
    failingProjectBench,
    firstListBench,
    editBench,
    looksBench,
    costBench,
    hostileBench,
    startBench,
    imageBench,
    knativeBench,
  ];
}
