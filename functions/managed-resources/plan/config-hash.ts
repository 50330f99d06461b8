import { hash } from 'node:crypto';
import { type FluxConfigMap, OVERRIDES_YAML, PUSH, ROLLOUT } from '../../../shared/config/flux-config-map.ts';
import type { ConfigInputs, EffectiveConfig } from '../../../shared/config/types.ts';
import type { Release } from '../../../shared/flux/release.ts';
import { canonicalJson } from '../../../shared/gardener/managed-resource.ts';

/** Identifies an effective configuration together with the release that it is rendered from; 16 hex digits. */
export function renderHash(config: EffectiveConfig, release: Release): string {
  return shortHash(`${configHash(config)} ${release.version} ${release.digest}`);
}

/** Identifies what a Shoot should get: the configuration without what changes none of the objects; 16 hex digits. */
export function configHash(config: EffectiveConfig): string {
  const {
    hasFluxConfig: _has,
    origins: _origins,
    syncMode: _mode,
    deletionPolicy: _policy,
    adopt: _adopt,
    monitoring: _monitoring,
    warnings: _warnings,
    ...content
  } = config;
  return shortHash(canonicalJson(content));
}

/** Identifies what the users of a Shoot have written, so that their edits differ from those of the operators. */
export function layersHash({ fluxConfig, providerConfig, shoot }: ConfigInputs): string {
  const written = [fluxConfig?.tooLarge ?? fluxConfig?.data ?? null, providerConfig ?? null];
  // Labels are written by users, too, and count where they decide something.
  const counts =
    (fluxConfig?.data[OVERRIDES_YAML] ?? '').trim() !== '' || JSON.stringify(written).includes(LABEL_VARIABLE);
  return shortHash(canonicalJson(counts ? [...written, shoot?.labels ?? null] : written));
}

/** The beginning of a variable with the value of a label. */
const LABEL_VARIABLE = '${SHOOT_LABEL_';

/** Identifies what a project has written, apart from how it reaches the Shoots; 12 hex digits. */
export function revisionOf({ data, binaryData, tooLarge }: FluxConfigMap): string {
  const { [ROLLOUT]: _, [PUSH]: __, ...rest } = data;
  const written = tooLarge === undefined ? [rest, binaryData ?? null] : [tooLarge];
  return shortHash(canonicalJson(written)).slice(0, 12);
}

/** Returns 16 hex digits. */
export function shortHash(text: string): string {
  return hash('sha256', text).slice(0, 16);
}
