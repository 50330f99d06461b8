import { scanEntryProblem } from '../../functions/keys/scan-policy.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { distributionAt } from '../../shared/flux/distribution.ts';
import type { HostKeyScan, Settings } from '../../shared/runtime/context.ts';
import type { LogLevel } from '../../shared/runtime/log.ts';
import { choiceOf, choices, DEFAULT_LANDSCAPE, wordsOf } from '../choices.ts';
import { missing } from './clusters.ts';
import { checkReleases, releasesOf } from './distribution-inspect.ts';
import { UsageError, type Values, type Variables } from './option.ts';
import type { logOptions, scanOptions, settingsOptions } from './options.ts';
import { named, quoted } from './sources.ts';

/**
 * Returns the settings of the functions, and the Flux releases of the distribution.
 * @throws UsageError, or ShootFluxError for a distribution that cannot be used
 */
export async function settingsOf(
  values: Values<typeof settingsOptions> & { 'shoot-health'?: boolean },
  seeds: string[],
  environment: Variables,
): Promise<{ settings: Settings; releases: string[] }> {
  const fluxDistribution = values['flux-distribution'] ?? missing('--flux-distribution DIR');
  const releases = await releasesOf(distributionAt(fluxDistribution), fluxDistribution);
  await checkReleases(fluxDistribution, releases);
  const settings: Settings = {
    landscape: values.landscape ?? DEFAULT_LANDSCAPE,
    gardenIdentity: values['garden-identity'],
    seeds,
    fluxDistribution,
    shootHealth: values['shoot-health'] === true,
    shootAccess: shootAccessOf(values, environment),
    hostKeyScan: hostKeyScanOf(values),
    ...readLandscape(values),
  };
  return { settings, releases };
}

function shootAccessOf(values: Values<typeof settingsOptions>, environment: Variables): Settings['shootAccess'] {
  const text = values['shoot-access'];
  if (text === undefined) return environment.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal';
  const known = choiceOf('shoot-access', text);
  if (known !== undefined) return known;
  throw new UsageError(`${quoted(values, 'shoot-access', text)} is not ${wordsOf('shoot-access')}`);
}

/** @throws UsageError that names the wrong option */
function hostKeyScanOf(values: Values<typeof scanOptions>): HostKeyScan {
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

/** @throws UsageError */
export function logLevelOf(values: Values<typeof logOptions>): LogLevel {
  const text = values['log-level'] ?? choices['log-level'][0];
  const level = choiceOf('log-level', text);
  if (level !== undefined) return level;
  throw new UsageError(`${quoted(values, 'log-level', text)} is not ${wordsOf('log-level')}`);
}

/** Returns the number of a port option, or undefined when it is absent. @throws UsageError */
export function portOf<Flag extends string>(values: { [Name in Flag]?: string }, flag: Flag): number | undefined {
  const text = values[flag];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number < 65536) return number;
  throw new UsageError(`${quoted(values, flag, text)} is not a port`);
}

/** Five times as many runs may wait for a network, each with its own connections. */
const MOST_CONCURRENCY = 1000;

/** Returns the number of `--concurrency`, or undefined when it is absent. @throws UsageError */
export function concurrencyOf(values: { concurrency?: string }): number | undefined {
  const text = values.concurrency;
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 1 && number <= MOST_CONCURRENCY) return number;
  throw new UsageError(`${quoted(values, 'concurrency', text)} is not a whole number from 1 to ${MOST_CONCURRENCY}`);
}
