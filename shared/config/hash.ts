import { createHash } from 'node:crypto';
import type { EffectiveConfig } from './effective.ts';

/**
 * Identifies what a Shoot should get: the first 16 digits of the SHA-256 of the config as canonical JSON (sorted keys,
 * nothing undefined). Where it came from, what still follows it and what becomes of Flux at the end do not count, because
 * they change nothing of it.
 */
export function configHash(config: EffectiveConfig): string {
  const { hasFluxConfig: _has, origins: _origins, syncMode: _mode, deletionPolicy: _policy, ...content } = config;
  return createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 16);
}

/** JSON in which equal values are equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
