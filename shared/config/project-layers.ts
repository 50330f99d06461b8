import type { ConfigIssue } from '../errors.ts';
import { readFluxConfig } from './flux-config.ts';
import { CONFIG_YAML, documentsOf, type FluxConfigMap, fluxConfigObject } from './flux-config-map.ts';
import { absentLayer, type Layer, unreadLayer } from './layer.ts';
import { patchOrigins } from './merge.ts';
import { issueAt } from './origins.ts';
import { overridesOf } from './overrides.ts';
import { readProviderConfig } from './provider-config.ts';
import type { YamlText } from './yaml-text.ts';

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
    const flat = absentLayer('flux-config');
    return { layers: [flat], flat, issues: [] };
  }
  const flat = readFluxConfig(fluxConfig);
  // Too long to be read, and its documents were not read either.
  if (!flat.isRead) return { layers: [flat], flat, issues: flat.issues };
  const documents = documentsOf(fluxConfig);
  const config = configLayer(fluxConfig, documents.config);
  const overrides = documents.overrides ?? { entries: [], issues: [] };
  const entries = labels === undefined ? overrides.entries : overridesOf(overrides, labels);
  const selected = entries.map((entry) => readProviderConfig(entry.config, entry.place));
  const layers = [...(labels === undefined ? [] : selected.toReversed()), ...(config ? [config] : []), flat];
  const issues = [flat, ...(config ? [config] : []), ...selected].flatMap((layer) => layer.issues);
  return {
    layers,
    flat,
    issues: [
      ...issues,
      ...overrides.issues,
      ...(documents.rollout?.issues ?? []),
      ...(config ? repeatedKeys(flat, config) : []),
    ],
  };
}

function configLayer({ namespace }: FluxConfigMap, document: YamlText | undefined): Layer | undefined {
  const place = { object: fluxConfigObject(namespace), path: CONFIG_YAML };
  if (document === undefined) return undefined;
  if ('problem' in document) return unreadLayer(place, [issueAt(place, '', document.problem)]);
  return document.value === null ? undefined : readProviderConfig(document.value, place);
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
