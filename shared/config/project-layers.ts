import type { ConfigIssue } from '../errors.ts';
import { readFluxConfig } from './flux-config.ts';
import { documentsOf, type FluxConfigMap } from './flux-config-map.ts';
import { emptyLayer, type Layer } from './layer.ts';
import { patchOrigins } from './merge.ts';
import { overridesOf } from './overrides.ts';
import { readProviderConfig } from './provider-config.ts';

/** The layers of a project's `flux-config`. */
interface ProjectLayers {
  /** Highest first: the overrides that select the Shoot, `config.yaml`, and the other keys. */
  layers: Layer[];
  /** The other keys, with the objects of the first implementation. */
  flat: Layer;
  issues: ConfigIssue[];
}

/**
 * Reads the layers of `flux-config` for a Shoot.
 * @param labels of the Shoot; absent: no override is a layer, and the issues are those of all of them
 */
export function projectLayers(
  fluxConfig: FluxConfigMap | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): ProjectLayers {
  if (fluxConfig === undefined) {
    const flat = emptyLayer({ object: 'flux-config', path: '' });
    return { layers: [flat], flat, issues: [] };
  }
  const flat = readFluxConfig(fluxConfig);
  // Too long to be read, and its documents were not read either.
  if (!flat.isRead) return { layers: [flat], flat, issues: flat.issues };
  const documents = documentsOf(fluxConfig);
  const { place, value, issues: unread } = documents.config;
  const config = unread.length > 0 ? emptyLayer(place, unread) : readProviderConfig(value, place);
  const { overrides } = documents;
  const entries = labels === undefined ? overrides.entries : overridesOf(overrides, labels);
  const selected = entries.map((entry) => readProviderConfig(entry.config, entry.place));
  const issues = [flat, config, ...selected, overrides, documents.rollout].flatMap((one) => one.issues);
  return {
    layers: [...(labels === undefined ? [] : selected.toReversed()), config, flat],
    flat,
    issues: [...issues, ...repeatedKeys(flat, config)],
  };
}

/** A field that a key and `config.yaml` set: neither is higher, so one of them is a mistake. */
function repeatedKeys(flat: Layer, config: Layer): ConfigIssue[] {
  const keys = Object.entries(flat.origins);
  return Object.entries({ ...config.origins, ...patchOrigins(config) }).flatMap(([path, { object, path: written }]) => {
    const key = keys.find(([set]) => set === path || set.startsWith(`${path}.`))?.[1].path;
    if (key === undefined || path.includes('[')) return [];
    return [{ object, path: written, message: `is also set by the key ${key}; remove one of them` }];
  });
}
