import type { Cause } from '../shared/runtime/change-request.ts';

/** How urgent changes can be, from the most to the least urgent. */
export const priorities = ['awaited', 'live', 'background'] as const;

export type Priority = (typeof priorities)[number];

/** Resyncs and what a list has found come by the thousands, and gardenlet and users wait for none of them. */
export function priorityOf(cause: Cause): Priority {
  if (cause.type === 'resync') return 'background';
  if (cause.type === 'object' && cause.awaited === true) return 'awaited';
  return 'listed' in cause && cause.listed === true ? 'background' : 'live';
}

/** Returns the more urgent one. */
export function moreUrgent(one: Priority, other: Priority): Priority {
  return priorities.indexOf(one) <= priorities.indexOf(other) ? one : other;
}
