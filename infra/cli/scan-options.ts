import { scanEntryProblem } from '../../functions/keys/ssh/scan-policy.ts';
import type { HostKeyScan } from '../../shared/runtime/context.ts';
import { choiceOf, choices, wordsOf } from '../choices.ts';
import { UsageError, type Values } from './option.ts';
import type { scanOptions } from './options.ts';
import { named, quoted } from './sources/origins.ts';

/** @throws UsageError that names the wrong option */
export function hostKeyScanOf(values: Values<typeof scanOptions>): HostKeyScan {
  const { 'host-key-scan-allow': allow = [], 'host-key-scan-deny': deny = [] } = values;
  const text = values['host-key-scan'] ?? choices['host-key-scan'][0];
  const mode = choiceOf('host-key-scan', text);
  if (mode === undefined)
    throw new UsageError(`${quoted(values, 'host-key-scan', text)} is not ${wordsOf('host-key-scan')}`);
  for (const [option, entries] of Object.entries({ allow, deny })) {
    const problem = entries.map(scanEntryProblem).find((found) => found !== undefined);
    if (problem !== undefined) throw new UsageError(`${named(values, `host-key-scan-${option}`)} ${problem}`);
  }
  if (mode === 'listed' && allow.length === 0) {
    throw new UsageError(`${quoted(values, 'host-key-scan', mode)} requires --host-key-scan-allow`);
  }
  return { mode, allow, deny };
}
