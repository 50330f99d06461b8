import { scanEntryProblem } from '../../functions/keys/ssh/scan-policy.ts';
import type { HostKeyScan } from '../../shared/runtime/context.ts';
import { type Option, UsageError, type Values } from './command.ts';

/** Options of `run` for `knownHosts: scan`. */
export const scanOptions = {
  'host-key-scan': {
    type: 'string',
    value: 'on|listed|off',
    description:
      'Which hosts "knownHosts: scan" may contact. on (default): all except loopback, link-local and similar addresses. listed: only those of --host-key-scan-allow. off: none.',
  },
  'host-key-scan-allow': {
    type: 'string',
    multiple: true,
    value: 'ENTRY',
    description:
      'An address, an address range or a host name (*.example.org includes all below it) that "knownHosts: scan" may contact. Repeatable. Loopback and similar addresses must be listed as addresses.',
  },
  'host-key-scan-deny': {
    type: 'string',
    multiple: true,
    value: 'ENTRY',
    description: 'The same, for what it may not contact. Repeatable. Takes precedence.',
  },
} as const satisfies Record<string, Option>;

/** @throws UsageError that names the wrong option */
export function hostKeyScanOf(values: Values<typeof scanOptions>): HostKeyScan {
  const { 'host-key-scan': text = 'on', 'host-key-scan-allow': allow = [], 'host-key-scan-deny': deny = [] } = values;
  const mode = (['on', 'listed', 'off'] as const).find((value) => value === text);
  if (mode === undefined) throw new UsageError(`--host-key-scan ${text} is not on, listed or off`);
  for (const [option, entries] of Object.entries({ allow, deny })) {
    const problem = entries.map(scanEntryProblem).find((found) => found !== undefined);
    if (problem !== undefined) throw new UsageError(`--host-key-scan-${option} ${problem}`);
  }
  if (mode === 'listed' && allow.length === 0) {
    throw new UsageError('--host-key-scan listed requires --host-key-scan-allow');
  }
  return { mode, allow, deny };
}
