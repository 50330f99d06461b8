import { ConfigError, type ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { additionalSecrets } from './additional-secrets.ts';
import { readFluxConfig } from './flux-config.ts';
import { installDefaults } from './flux-options.ts';
import { absentLayer, type FluxOptions, type Layer } from './layer.ts';
import { layerIssues } from './layer-rules.ts';
import { completeKustomization, completeSource } from './objects.ts';
import { mergeOrigins } from './origins.ts';
import { PROVIDER_CONFIG, readProviderConfig } from './provider-config.ts';
import type { ConfigInputs, CopiedSecret, EffectiveConfig, FluxInstall } from './types.ts';

/**
 * Merges the ConfigMap `flux-config` of the project and the Shoot's own providerConfig, validates the result and fills
 * in every default.
 * @throws ConfigError with everything that is wrong in either of them
 */
export function effectiveConfig(inputs: ConfigInputs): EffectiveConfig {
  return mergeLayers(inputs, providerConfigLayer(inputs.providerConfig));
}

/** Returns the layer of a providerConfig, which may be absent. */
export function providerConfigLayer(value: unknown): Layer {
  return value === undefined || value === null ? absentLayer(PROVIDER_CONFIG) : readProviderConfig(value);
}

/** The same with a providerConfig that has been read already. */
export function mergeLayers(
  inputs: Pick<ConfigInputs, 'fluxConfig' | 'shootResources'>,
  providerConfig: Layer,
): EffectiveConfig {
  const fluxConfig = inputs.fluxConfig === undefined ? absentLayer('flux-config') : readFluxConfig(inputs.fluxConfig);
  const flux = mergeOptions(fluxConfig.content.flux, providerConfig.content.flux);
  const sourceFrom = providerConfig.sets.source ? providerConfig : fluxConfig;
  const kustomizationFrom = providerConfig.sets.kustomization ? providerConfig : fluxConfig;

  const source = sourceFrom.content.source && completeSource(sourceFrom.content.source.template, flux.namespace);
  const template = kustomizationFrom.content.kustomization;
  const kustomization =
    template && source && completeKustomization(template, source, flux.namespace, kustomizationFrom === fluxConfig);
  const sourceSecret = source && copiedSourceSecret(source, sourceFrom);
  const additional = additionalSecrets(providerConfig.content.additionalSecrets, {
    fluxNamespace: flux.namespace,
    users: [source, kustomization].filter((user) => user !== undefined),
    sourceSecret,
    shootResources: inputs.shootResources,
  });

  const issues: ConfigIssue[] = [
    ...fluxConfig.issues,
    ...providerConfig.issues,
    ...layerIssues({
      fluxConfig,
      providerConfig,
      flux,
      source,
      kustomization,
      shootResources: inputs.shootResources,
    }),
    ...additional.issues,
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  return {
    flux,
    syncMode: providerConfig.content.syncMode ?? fluxConfig.content.syncMode ?? 'Once',
    deletionPolicy: providerConfig.content.deletionPolicy ?? fluxConfig.content.deletionPolicy,
    suspend: providerConfig.content.suspend ?? fluxConfig.content.suspend ?? false,
    source,
    kustomization,
    sourceSecret,
    additionalSecrets: additional.secrets,
    hasFluxConfig: inputs.fluxConfig !== undefined,
    origins: mergeOrigins([fluxConfig.origins, providerConfig.origins]),
  };
}

/** Merges option by option: defaults < ConfigMap < providerConfig. */
function mergeOptions(fluxConfig: FluxOptions, providerConfig: FluxOptions): FluxInstall {
  const { componentsExtra, ...options } = {
    ...installDefaults,
    ...definedOnly(fluxConfig),
    ...definedOnly(providerConfig),
  };
  return {
    ...options,
    version: options.version === 'latest' ? undefined : options.version,
    components: [...new Set([...options.components, ...(componentsExtra ?? [])])],
    tolerationKeys: [...new Set(options.tolerationKeys)],
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops undefined fields, so that spreading the result overwrites nothing. */
function definedOnly<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Returns the copy of the credentials, in the namespace of the source, because Flux reads them only there. */
function copiedSourceSecret(source: KubeObject, { content }: Layer): CopiedSecret | undefined {
  const origin = content.source?.secret;
  const { secretRef } = source.spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return undefined;
  return { origin, targetName: secretRef.name, namespace: source.metadata.namespace ?? '' };
}
