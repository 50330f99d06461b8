import { join } from 'node:path';
import { readLandscape } from '../../shared/config/landscape.ts';
import { distributionAt, openDistribution } from '../../shared/flux/distribution.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { DEFAULT_LANDSCAPE } from '../choices.ts';
import { missing } from './clusters.ts';
import { checkComplete, releasesOf } from './distribution-inspect.ts';
import { UsageError, type Values, type Variables } from './option.ts';
import type { settingsOptions } from './options.ts';
import { quoted } from './sources.ts';

/**
 * Returns the settings of the functions, and the Flux releases of the distribution.
 * @throws UsageError, or ShootFluxError for a distribution that cannot be used
 */
export async function settingsOf(
  values: Values<typeof settingsOptions> & { 'shoot-health'?: boolean },
  seeds: string[],
  environment: Variables,
): Promise<{ settings: Settings; releases: string[] }> {
  const { 'host-key-scan': mode = 'on', 'host-key-scan-allow': allow = [], 'host-key-scan-deny': deny = [] } = values;
  if (mode === 'listed' && allow.length === 0) {
    throw new UsageError(`${quoted(values, 'host-key-scan', mode)} requires --host-key-scan-allow`);
  }
  const fluxDistribution = values['flux-distribution'] ?? missing('--flux-distribution DIR');
  const releases = await releasesOf(distributionAt(fluxDistribution), fluxDistribution);
  // A broken one fails at start. One at a time: together they would take 20 MB that the process never gives back.
  for (const version of releases) {
    checkComplete(await openDistribution(fluxDistribution).release(version), join(fluxDistribution, version));
  }
  const settings: Settings = {
    landscape: values.landscape ?? DEFAULT_LANDSCAPE,
    gardenIdentity: values['garden-identity'],
    seeds,
    fluxDistribution,
    shootHealth: values['shoot-health'] === true,
    shootAccess:
      values['shoot-access'] ?? (environment.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal'),
    hostKeyScan: { mode, allow, deny },
    ...readLandscape(values),
  };
  return { settings, releases };
}
