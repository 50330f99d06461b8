import '../../shared/config/listed/all.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import type { ConfigInputs, EffectiveConfig } from '../../shared/config/types.ts';
import { ConfigError, type ConfigIssue } from '../../shared/errors.ts';
import type { TargetNamespaces } from './decide.ts';

type Layers = Pick<ConfigInputs, 'landscape' | 'fluxConfig' | 'shoot' | 'providerConfig'>;

/** The layers that may have errors, highest first -> their names in warnings. */
const names = {
  providerConfig: 'providerConfig',
  fluxConfig: 'ConfigMap flux-config',
  landscape: "landscape's configuration",
};

/**
 * Returns the namespaces of everything that the shoot gets. A layer with errors is ignored: its errors are reported
 * elsewhere, and once it is fixed the resource-manager should already know the other namespaces.
 */
export function targetNamespacesOf(layers: Layers, warnings: string[]): TargetNamespaces {
  try {
    return { namespaces: namespacesOf(effectiveConfig(layers)), warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = wrongLayers(layers, error.issues);
    const [first] = wrong;
    if (first === undefined) throw error;
    return targetNamespacesOf({ ...layers, ...Object.fromEntries(wrong.map((layer) => [layer, undefined])) }, [
      ...warnings,
      `the ${names[first]} has errors and is ignored when computing target namespaces; fix it`,
    ]);
  }
}

/** Returns layers that exist, so that each attempt has fewer. A higher layer may lead to an error that names a lower one. */
function wrongLayers(layers: Layers, issues: readonly ConfigIssue[]): (keyof typeof names)[] {
  const present = (['providerConfig', 'fluxConfig', 'landscape'] as const).filter(
    (layer) => layers[layer] !== undefined,
  );
  const isNamed = (layer: keyof typeof names) =>
    layer !== 'landscape' && issues.some(({ object }) => (object === PROVIDER_CONFIG) === (layer === 'providerConfig'));
  const named = present.filter(isNamed);
  return named.length > 0 ? named : present.slice(0, 1);
}

/** Copied Secrets need no namespace of their own: they live where Flux, the source or the Kustomization does. */
function namespacesOf({ flux, source, kustomization, objects }: EffectiveConfig): string[] {
  const users = [source, kustomization, ...objects];
  const namespaces = [flux.namespace, ...users.map((user) => user?.metadata.namespace)];
  return [...new Set(namespaces.filter((namespace) => namespace !== undefined))];
}
