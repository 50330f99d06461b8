import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** The pace of background changes, for queues that do not know what is urgent. */
export interface Pace {
  /** How many background changes of a function are sent per second. */
  perSecond: number;
  /** The same for functions that forward changes: one change of theirs becomes one for each Shoot of a project. */
  senders?: { names: readonly string[]; perSecond: number };
  /** Background changes of a cluster that is not up wait until it is. */
  isUp(cluster: string): boolean;
}

/**
 * The pace for SQS, which delivers in the order of arrival: 10,000 Shoots that a first list finds would stand before
 * gardenlet's request. Ten concurrent runs of a function handle about a hundred changes per second, so at this pace
 * the queue stays empty; the first list of 10,000 Shoots takes 200 s, the resync needs 3 per second.
 */
export function sqsPace(isUp: Pace['isUp'], senders: readonly string[]): Pace {
  return { perSecond: 50, senders: { names: senders, perSecond: 1 }, isUp };
}

/** Returns the functions that turn one change into many; the delay function only sends back what it got. */
export function forwardersOf(definitions: FunctionDefinition[]): string[] {
  return definitions.filter(({ sends, queue }) => sends && queue !== 'standard').map(({ name }) => name);
}

/** Returns how many background changes of a function may be sent per second. */
export function perSecondOf(pace: Pace | undefined, functionName: string): number {
  if (pace === undefined) return Number.POSITIVE_INFINITY;
  return pace.senders?.names.includes(functionName) === true ? pace.senders.perSecond : pace.perSecond;
}
