import { differences, type EndState, endState, violations } from './end-state.ts';
import { type FunctionRequest, happensAtOnce, type Kill, runContinues } from './kills.ts';
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
    if (kill.at !== 'every write') return continueKilled(world, lifecycle, undisturbed, kill);
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
  return { ...outcome(world, lifecycle), requests: [...world.requests], before };
}

/**
 * Continues from the moment of the undisturbed life at which the kill happens, instead of repeating what came before. A
 * run that continues after its kill knows what it has read, so it is repeated from its start.
 */
async function continueKilled(
  world: World,
  lifecycle: Lifecycle,
  { before, requests }: Outcome,
  kill: Kill,
): Promise<Pick<Outcome, 'end' | 'violations'>> {
  const steps = lifecycle.steps.filter((_, index) => (before[index] ?? 0) >= Number(kill.at));
  const listener = onKill(world, steps, kill);
  const request = requests[Number(kill.at) - 1];
  // A write that is refused changes nothing.
  const moment = runContinues(kill.kind) ? request?.start : (request?.[kill.when] ?? request?.before);
  if (moment === undefined) throw new Error(`nothing is remembered of request ${kill.at}`);
  if (runContinues(kill.kind)) {
    const earlier = requests.filter(({ run }) => run < Number(request?.run));
    world.armAgain(moment, earlier, kill, listener);
  } else world.killAt(moment, kill.kind, listener);
  await world.settle(lifecycle.calmMs);
  await takeSteps(world, steps, lifecycle);
  if (runContinues(kill.kind)) await world.resume();
  return outcome(world, lifecycle);
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
