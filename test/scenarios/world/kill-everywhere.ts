import { differences, type EndState, endState, violations } from './end-state.ts';
import { killsOf } from './kills.ts';
import type { Life } from './lives.ts';
import type { Step } from './steps.ts';
import {
  type FunctionRequest,
  goesOn,
  isHurried,
  type Kill,
  startWorld,
  type World,
  type WorldOptions,
} from './world.ts';

/** Leads a life to its end, undisturbed. */
export async function lead(life: Life, options: WorldOptions = {}): Promise<Lived> {
  await using world = await startWorld(options);
  await follow(world, [...life.before], life);
  // Awaited here: the world ends with this function.
  return await during(world, life, undefined);
}

/**
 * Leads a life undisturbed and then once for every moment at which a kill can make a difference.
 * @returns for each kill after which the world is not the same in the end: where, and what differs; and how many there were
 */
export async function killEverywhere(
  life: Life,
  what: Kill['what'],
  kills: (requests: FunctionRequest[]) => Kill[] = (requests) => killsOf(requests, what),
  options: WorldOptions = {},
): Promise<{ deviations: string[]; cases: number }> {
  await using world = await startWorld({ othersFirst: goesOn(what), ...options });
  await follow(world, [...life.before], life);
  const restart = world.checkpoint();
  const again = async (kill?: Kill) => {
    await restart();
    return during(world, life, kill);
  };
  const undisturbed = await again();
  if (undisturbed.violations.length > 0) throw new Error(undisturbed.violations.join('\n'));
  const chosen = kills(undisturbed.requests);
  const deviations: string[] = [];
  for (const kill of chosen) {
    const killed = await again(kill);
    const wrong = [
      ...(world.killed() ? [] : ['the kill did not happen']),
      ...killed.violations,
      ...differences(undisturbed.end.objects, killed.end.objects),
      // What is over before anybody looks may never have happened.
      ...(isHurried(what) ? [] : differences(undisturbed.end.history, killed.end.history)),
    ];
    if (wrong.length > 0) deviations.push([textOf(undisturbed.requests, kill), ...wrong.slice(0, 5)].join('\n  '));
  }
  return { deviations, cases: chosen.length };
}

/** How a life ended. */
export interface Lived {
  end: EndState;
  violations: string[];
  requests: FunctionRequest[];
}

async function during(world: World, life: Life, kill: Kill | undefined): Promise<Lived> {
  const steps = [...life.during];
  const theRest = () => {
    for (const step of steps.splice(0)) step(world);
  };
  world.arm(kill, kill !== undefined && isHurried(kill.what) ? theRest : undefined);
  await follow(world, steps, life);
  const requests = [...world.requests];
  if (kill !== undefined && goesOn(kill.what)) await world.resume();
  return { end: endState(world), violations: violations(world, life.removes === true), requests };
}

async function follow(world: World, steps: Step[], { calmMs }: Life): Promise<void> {
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    step(world);
    await world.settle(calmMs);
  }
}

function textOf(requests: FunctionRequest[], { at, when, what }: Kill): string {
  const request = requests.find(({ number }) => number === at);
  if (request === undefined) return `${what}, ${when} ${at}`;
  const { cluster, summary } = request;
  return `${what}, ${when} request ${at}: ${summary.method} ${cluster} ${summary.path}`;
}
