import type { HostKeyScan, Settings } from '../shared/runtime/context.ts';
import type { LogLevel } from '../shared/runtime/log.ts';

/** The options whose value is one of a few words, on the command line and on Lambda. The first word is the default. */
export const choices = {
  'host-key-scan': ['on', 'listed', 'off'],
  'log-level': ['info', 'debug', 'warn', 'error'],
  // Inside a cluster the command line prefers the second one.
  'shoot-access': ['external', 'internal'],
} as const satisfies Words;

interface Words {
  'host-key-scan': readonly HostKeyScan['mode'][];
  'log-level': readonly LogLevel[];
  'shoot-access': readonly Settings['shootAccess'][];
}

/** Name of the landscape where none is configured. */
export const DEFAULT_LANDSCAPE = 'gardener';

export type Choice = keyof typeof choices;

export type ChoiceOf<Name extends Choice> = (typeof choices)[Name][number];

/** Lists the words in a sentence: `on, listed or off`. */
export function wordsOf(name: Choice): string {
  return choices[name].join(', ').replace(/, ([^,]+)$/, ' or $1');
}
