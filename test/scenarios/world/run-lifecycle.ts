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
  const repeat = async (kill?: Kill) => {
    await restart();
    return runSteps(world, lifecycle, kill);
  };
  const undisturbed = await repeat();
  if (undisturbed.violations.length > 0) throw new Error(undisturbed.violations.join('\n'));
  const kills = choose(undisturbed.requests);
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
}

async function runSteps(world: World, lifecycle: Lifecycle, kill: Kill | undefined): Promise<Outcome> {
  const steps = [...lifecycle.steps];
  const takeRemaining = () => {
    for (const step of steps.splice(0)) step(world);
  };
  world.arm(kill, kill !== undefined && happensAtOnce(kill.kind) ? takeRemaining : undefined);
  await takeSteps(world, steps, lifecycle);
  const requests = [...world.requests];
  if (kill !== undefined && runContinues(kill.kind)) await world.resume();
  return { end: endState(world), violations: violations(world, lifecycle), requests };
}

async function takeSteps(world: World, steps: Step[], { calmMs }: Lifecycle): Promise<void> {
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    step(world);
    await world.settle(calmMs);
  }
}

function describeKill(requests: FunctionRequest[], { at, when, kind }: Kill): string {
  const request = requests.find(({ number }) => number === at);
  if (request === undefined) return `${kind}, ${when} ${at}`;
  const { cluster, summary } = request;
  return `${kind}, ${when} request ${at}: ${summary.method} ${cluster} ${summary.path}`;
}
