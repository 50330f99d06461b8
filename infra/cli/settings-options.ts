import '../../shared/config/listed/all.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { distributionAt } from '../../shared/flux/distribution.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { choiceOf, choices, DEFAULT_LANDSCAPE, wordsOf } from '../choices.ts';
import { missing } from './clusters.ts';
import { UsageError, type Values, type Variables } from './option.ts';
import type { settingsOptions } from './options.ts';
import { checkReleases, releasesOf } from './releases.ts';
import { hostKeyScanOf } from './scan-options.ts';
import { quoted } from './sources/origins.ts';

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
    delivery: deliveryOf(values),
    shootAccess: shootAccessOf(values, environment),
    hostKeyScan: hostKeyScanOf(values),
    ...readLandscape(values),
  };
  return { settings, releases };
}

function deliveryOf(values: Values<typeof settingsOptions>): Settings['delivery'] {
  const text = values.delivery ?? choices.delivery[0];
  const known = choiceOf('delivery', text);
  if (known !== undefined) return known;
  throw new UsageError(`${quoted(values, 'delivery', text)} is not ${wordsOf('delivery')}`);
}

function shootAccessOf(values: Values<typeof settingsOptions>, environment: Variables): Settings['shootAccess'] {
  const text = values['shoot-access'];
  if (text === undefined) return environment.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal';
  const known = choiceOf('shoot-access', text);
  if (known !== undefined) return known;
  throw new UsageError(`${quoted(values, 'shoot-access', text)} is not ${wordsOf('shoot-access')}`);
}
