import { ConfigError, type ConfigIssue } from '../errors.ts';
import { additionalSecrets } from './additional-secrets.ts';
import { completed } from './complete.ts';
import { defaultsLayer } from './defaults.ts';
import type { Layer } from './layer.ts';
import { type Merged, merged } from './merge.ts';
import { policyIssues } from './policy/judge.ts';
import { projectLayers } from './project-layers.ts';
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
