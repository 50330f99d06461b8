import { setTimeout as sleep } from 'node:timers/promises';
import { type Allowed, growth, type Sample } from './flatness.ts';
import { beginLife, type Life } from './life.ts';
import { type SoakedProduct, startSoakedProduct } from './product.ts';
import { createRandom } from './random.ts';
import { type SoakWorld, startSoakWorld } from './world.ts';

/** How long and how busy a soak is. */
export interface SoakOptions {
  minutes: number;
  /** Repeats a life: the order of its steps, not their timing. */
  seed: number;
  /** The most Shoots. */
  shoots: number;
  /** Called with one line of progress. */
  progress(text: string): void;
  /** Called with each line of the product's log. */
  onLog?(line: string): void;
}

/** Steps that happen at the same time. */
const ACTORS = 8;
const SAMPLE_MS = 2_000;
const PROGRESS_SAMPLES = 15;
const PAUSE_MS = 100;
const EMPTY_QUEUE_MS = 120_000;
/** What a process may grow between the second and the last quarter: more Shoots may exist, and heaps breathe. */
const allowed: Allowed = { heapMb: 25, residentMb: 60, handles: 60 };

/**
 * Lives a random life beside a product in a process of its own, then heals everything and looks at what is left.
 * @returns `wrong`: one sentence for each thing that is wrong
 */
export async function soak(options: SoakOptions) {
  await using world = await startSoakWorld();
  const product = await startSoakedProduct(world.args, options.onLog ?? (() => {}));
  try {
    const random = createRandom(options.seed);
    const life = await beginLife(world, random, options.shoots);
    const { steps, samples } = await live(world, product, life, options);
    options.progress('healing');
    const wrong = await life.heal();
    wrong.push(...(await untilEmpty(product, (performance.now() / 1000) | 0)));
    wrong.push(...growth(samples, allowed), ...product.alarms());
    if (!(await product.isAlive())) wrong.push('The product reports that it makes no progress.');
    return { steps, runs: await product.runs(), samples, wrong };
  } finally {
    await product.stop();
  }
}

async function live(world: SoakWorld, product: SoakedProduct, life: Life, { minutes, progress }: SoakOptions) {
  const started = performance.now();
  const until = started + minutes * 60_000;
  const samples: Sample[] = [];
  let steps = 0;
  let last = '';
  const actor = async () => {
    while (performance.now() < until) {
      last = await life.step();
      steps++;
      await sleep(PAUSE_MS);
    }
  };
  const sampler = async () => {
    while (performance.now() < until) {
      await sleep(SAMPLE_MS);
      const sample = await product.sample((performance.now() - started) / 1000);
      samples.push(sample);
      // The landscape keeps a log of its requests, which nothing reads here.
      for (const { api } of world.clusters.values()) api.requests.length = 0;
      if (samples.length % PROGRESS_SAMPLES === 0) progress(`${textOf(sample)}; ${steps} steps, last ${last}`);
    }
  };
  await Promise.all([sampler(), ...Array.from({ length: ACTORS }, actor)]);
  return { steps, samples };
}

function textOf({ at, residentMb, heapMb, handles, waiting }: Sample): string {
  return `${at.toFixed(0)} s: ${residentMb.toFixed(0)} MB resident, ${heapMb.toFixed(0)} MB heap, ${handles} handles, ${waiting} waiting`;
}

async function untilEmpty(product: SoakedProduct, at: number): Promise<string[]> {
  const deadline = performance.now() + EMPTY_QUEUE_MS;
  for (;;) {
    const { waiting } = await product.sample(at);
    if (waiting === 0) return [];
    if (performance.now() > deadline)
      return [`${waiting} changes still wait ${EMPTY_QUEUE_MS / 1000} s after the end.`];
    await sleep(500);
  }
}
