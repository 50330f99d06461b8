import manifest from '../../package.json' with { type: 'json' };
import { readLandscape } from '../../shared/config/landscape.ts';
import { onlyProjectOf } from '../../shared/gardener/shoot-changes.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import { missing, UsageError, type Values, type Variables } from './option.ts';
import { DEFAULT_LANDSCAPE, type settingsOptions } from './options.ts';
import { quoted } from './sources.ts';

/** Returns the settings of the functions. @throws UsageError, or ConfigError for wrong defaults or a wrong policy */
export function settingsOf(
  values: Values<typeof settingsOptions> & { 'shoot-health'?: boolean },
  seeds: string[],
  environment: Variables,
): Settings {
  const { 'host-key-scan': mode = 'on', 'host-key-scan-allow': allow = [], 'host-key-scan-deny': deny = [] } = values;
  if (mode === 'listed' && allow.length === 0) {
    throw new UsageError(
      `${quoted(values, 'host-key-scan', mode)} requires --host-key-scan-allow or HOST_KEY_SCAN_ALLOW`,
    );
  }
  return {
    version: manifest.version,
    landscape: values.landscape ?? DEFAULT_LANDSCAPE,
    gardenIdentity: values['garden-identity'],
    seeds,
    fluxDistribution: values['flux-distribution'] ?? missing('--flux-distribution DIR'),
    shootHealth: values['shoot-health'] === true,
    shootAccess:
      values['shoot-access'] ?? (environment.KUBERNETES_SERVICE_HOST === undefined ? 'external' : 'internal'),
    hostKeyScan: { mode, allow, deny },
    pushUrl: values['push-url'],
    ...readLandscape(values),
    // Its state is in the namespace `garden`, where the account of a self-hosted Shoot has no rights (decision 101).
    ...(onlyProjectOf(seeds) !== undefined && { rollout: undefined }),
  };
}
