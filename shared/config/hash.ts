import { createHash } from 'node:crypto';
import type { EffectiveConfig } from './effective.ts';

/**
 * Identifies the content of a configuration: the first 16 digits of the SHA-256 of its canonical JSON (sorted keys,
 * nothing undefined). Origins, sync mode and deletion policy do not count, because they do not change the objects.
 */
export function configHash(config: EffectiveConfig): string {
  const { hasFluxConfig: _has, origins: _origins, syncMode: _mode, deletionPolicy: _policy, ...content } = config;
  return createHash('sha256').update(canonicalJson(content)).digest('hex').slice(0, 16);
}

/** Returns JSON that is the same for equal values, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
