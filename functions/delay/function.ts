import type { FunctionDefinition } from '../../shared/runtime/definition.ts';

/** Holds changes until they are due, so that a long wait blocks no other change of the same key. */
export const definition = {
  name: 'delay',
  description: 'Sends a change back to the queue of its function when it is due.',
  subscriptions: [],
  resync: false,
  sends: true,
  queue: 'standard',
  rights: { garden: [], seed: [] },
} satisfies FunctionDefinition;
