import '../../shared/config/listed/all.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import type { ConfigInputs, EffectiveConfig } from '../../shared/config/types.ts';
import { ConfigError } from '../../shared/errors.ts';
import type { TargetNamespaces } from './decide.ts';

type Layers = Pick<ConfigInputs, 'landscape' | 'fluxConfig' | 'shoot' | 'providerConfig'>;

/**
 * Returns the namespaces of everything that the shoot gets. A layer with errors is ignored: its errors are reported
 * elsewhere, and once it is fixed the resource-manager should already know the other namespaces.
 */
export function targetNamespacesOf(layers: Layers, warnings: string[]): TargetNamespaces {
  try {
    return { namespaces: namespacesOf(effectiveConfig(layers)), warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const hasErrors = (isProviderConfig: boolean) =>
      error.issues.some(({ object }) => (object === PROVIDER_CONFIG) === isProviderConfig);
    const valid = {
      landscape: layers.landscape,
      shoot: layers.shoot,
      fluxConfig: hasErrors(false) ? undefined : layers.fluxConfig,
      providerConfig: hasErrors(true) ? undefined : layers.providerConfig,
    };
    const ignored = hasErrors(true) ? PROVIDER_CONFIG : 'ConfigMap flux-config';
    return targetNamespacesOf(valid, [
      ...warnings,
      `the ${ignored} has errors and is ignored when computing target namespaces; fix it`,
    ]);
  }
}

/** Copied Secrets need no namespace of their own: they live where Flux, the source or the Kustomization does. */
function namespacesOf({ flux, source, kustomization, objects }: EffectiveConfig): string[] {
  const users = [source, kustomization, ...objects];
  const namespaces = [flux.namespace, ...users.map((user) => user?.metadata.namespace)];
  return [...new Set(namespaces.filter((namespace) => namespace !== undefined))];
}
