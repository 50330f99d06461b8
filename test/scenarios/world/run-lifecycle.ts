import { differences, type EndState, endState, violations } from './end-state.ts';
import { canReturn, type FunctionRequest, happensAtOnce, type Kill, type Moment, runContinues } from './kills.ts';
import type { Lifecycle } from './lifecycles.ts';
import type { Step } from './steps.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** Runs a lifecycle to its end without a kill. */
export async function runLifecycle(lifecycle: Lifecycle, options: WorldOptions = {}): Promise<Outcome> {
  await using world = await startWorld(options);
  await takeSteps(world, [...lifecycle.setup], lifecycle);
  // Awaited here: the world ends with this function.
  return await runSteps(world, lifecycle, undefined);
}

/**
 * Runs a lifecycle without a kill, and then once for each kill that `choose` selects.
 * @returns for each kill after which the world ends differently: where, and what differs; and how many kills there were
 */
export async function runWithKills(
  lifecycle: Lifecycle,
  choose: (requests: FunctionRequest[]) => Kill[],
  options: WorldOptions = {},
): Promise<{ deviations: string[]; kills: number }> {
  await using world = await startWorld(options);
  await takeSteps(world, [...lifecycle.setup], lifecycle);
  const restart = world.checkpoint();
  await restart();
  const undisturbed = await runSteps(world, lifecycle, undefined);
  if (undisturbed.violations.length > 0) throw new Error(undisturbed.violations.join('\n'));
  const kills = choose(undisturbed.requests);
  const repeat = async (kill: Kill) => {
    const bringBack = momentOf(undisturbed, kill);
    if (bringBack !== undefined) return continueKilled(world, lifecycle, undisturbed, kill, bringBack);
    await restart();
    return runSteps(world, lifecycle, kill);
  };
  const deviations: string[] = [];
  for (const kill of kills) {
    const killed = await repeat(kill);
    const wrong = [
      ...(world.killed() ? [] : ['the kill did not happen']),
      ...killed.violations,
      ...differences(undisturbed.end.objects, killed.end.objects),
      // A state that passes before the product sees it may leave no trace.
      ...(happensAtOnce(kill.kind) ? [] : differences(undisturbed.end.history, killed.end.history)),
    ];
    if (wrong.length > 0)
      deviations.push([describeKill(undisturbed.requests, kill), ...wrong.slice(0, 5)].join('\n  '));
  }
  return { deviations, kills: kills.length };
}

/** How a lifecycle ended. */
export interface Outcome {
  end: EndState;
  violations: string[];
  requests: FunctionRequest[];
  /** For each step, the number of requests before it. */
  before: number[];
}

async function runSteps(world: World, lifecycle: Lifecycle, kill: Kill | undefined): Promise<Outcome> {
  const steps = [...lifecycle.steps];
  world.arm(kill, onKill(world, steps, kill));
  const before = await takeSteps(world, steps, lifecycle);
  const requests = [...world.requests];
  if (kill !== undefined && runContinues(kill.kind)) await world.resume();
  return { ...outcome(world, lifecycle), requests, before };
}

/** Continues from a moment of the undisturbed run, at which the kill happens, instead of repeating what came before. */
async function continueKilled(
  world: World,
  lifecycle: Lifecycle,
  { before }: Outcome,
  kill: Kill,
  bringBack: Moment,
): Promise<Pick<Outcome, 'end' | 'violations'>> {
  const steps = lifecycle.steps.filter((_, index) => (before[index] ?? 0) >= Number(kill.at));
  world.killAt(bringBack, kill.kind, onKill(world, steps, kill));
  await world.settle(lifecycle.calmMs);
  await takeSteps(world, steps, lifecycle);
  return outcome(world, lifecycle);
}

function momentOf({ requests }: Outcome, kill: Kill): Moment | undefined {
  const request = canReturn(kill) ? requests[Number(kill.at) - 1] : undefined;
  // A write that is refused changes nothing.
  return request?.[kill.when] ?? request?.before;
}

const outcome = (world: World, lifecycle: Lifecycle) => ({
  end: endState(world),
  violations: violations(world, lifecycle),
});

/** Takes all remaining steps at the kill, where it asks for that. */
function onKill(world: World, steps: Step[], kill: Kill | undefined): (() => void) | undefined {
  if (kill === undefined || !happensAtOnce(kill.kind)) return undefined;
  return () => {
    for (const step of steps.splice(0)) step(world);
  };
}

/** @returns for each step, the number of requests before it */
async function takeSteps(world: World, steps: Step[], { calmMs }: Lifecycle): Promise<number[]> {
  const before: number[] = [];
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    before.push(world.requests.length);
    step(world);
    await world.settle(calmMs);
  }
  return before;
}

function describeKill(requests: FunctionRequest[], { at, when, kind }: Kill): string {
  const request = requests.find(({ number }) => number === at);
  if (request === undefined) return `${kind}, ${when} ${at}`;
  const { cluster, summary } = request;
  return `${kind}, ${when} request ${at}: ${summary.method} ${cluster} ${summary.path}`;
}
