import { ConfigError, type ConfigIssue } from '../errors.ts';
import { additionalSecrets } from './additional-secrets.ts';
import { completed } from './complete.ts';
import { defaultsLayer } from './defaults.ts';
import { readFluxConfig } from './flux-config.ts';
import { documentsOf, type FluxConfigMap } from './flux-config-map.ts';
import { emptyLayer, type Layer } from './layer.ts';
import { type Merged, merged, patchOrigins } from './merge.ts';
import { overridesOf } from './overrides.ts';
import { policyIssues } from './policy/judge.ts';
import { projectSecretsOf, unknownSecretIssues } from './project-secrets.ts';
import { readProviderConfig } from './provider-config.ts';
import { problemsOf } from './rules.ts';
import type { ConfigInputs, EffectiveConfig, SyncMode } from './types.ts';

/**
 * Merges the landscape's defaults, the ConfigMap `flux-config` of the project and the Shoot's own providerConfig,
 * validates the result, fills in every default, and applies the landscape's policy.
 * @throws ConfigError with everything that is wrong in any of them
 */
export function effectiveConfig(inputs: ConfigInputs): EffectiveConfig {
  return mergeLayers(inputs, readProviderConfig(inputs.providerConfig));
}

/** The same with a providerConfig that has been read already. */
export function mergeLayers(inputs: Omit<ConfigInputs, 'providerConfig'>, providerConfig: Layer): EffectiveConfig {
  const { landscape = {}, shoot } = inputs;
  // Read.
  const ofProject = projectLayers(inputs.fluxConfig, shoot?.labels);
  // `readLandscape` has checked the defaults.
  const layers = [providerConfig, ...ofProject.layers, defaultsLayer(landscape)];
  const project = projectSecretsOf(inputs);

  // Merge.
  const written = merged(layers, ofProject.flat);

  // Complete.
  const config = completed(written, project.secrets, inputs);
  const { flux, source, kustomization, objects, sourceSecret, pullSecret, origins } = config;
  const additional = additionalSecrets(config, project.secrets);

  // Check.
  const ownCopies = [sourceSecret?.secret, pullSecret].filter((copy) => copy !== undefined);
  const checked = problemsOf(config, [...additional.secrets, ...ownCopies]);
  const issues: ConfigIssue[] = [
    ...ofProject.issues,
    ...providerConfig.issues,
    ...config.issues,
    ...additional.issues,
    ...project.issues,
    ...unknownSecretIssues(inputs, written.sourceFrom, source, origins),
    ...checked.issues,
    ...(landscape.policy === undefined ? [] : policyIssues(landscape.policy, config, shoot)),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  const warnings = [...layers.flatMap((layer) => layer.warnings ?? []), ...checked.warnings];
  const { syncMode, deletionPolicy, suspend, adopt } = written.content;
  return {
    flux,
    syncMode: syncMode ?? defaultSyncMode(written, ofProject.layers),
    deletionPolicy,
    suspend: suspend ?? false,
    ...(adopt === true && { adopt }),
    source,
    kustomization,
    objects,
    sourceSecret: sourceSecret?.secret,
    additionalSecrets: additional.secrets,
    ...(pullSecret && { pullSecret }),
    hasFluxConfig: inputs.fluxConfig !== undefined,
    origins,
    ...(warnings.length > 0 && { warnings }),
  };
}

/**
 * An edit of the project's `flux-config` is meant for all of its Shoots; a providerConfig is written once for its own
 * (decision 52). Without a source, sources are among the objects.
 */
function defaultSyncMode({ layers, sourceFrom }: Merged, ofProject: readonly Layer[]): SyncMode {
  const from = sourceFrom.sets.source ? sourceFrom : layers.find(({ content }) => content.objects !== undefined);
  return from !== undefined && ofProject.includes(from) ? 'ManifestsOnly' : 'Once';
}

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
