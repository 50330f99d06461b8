import type { ConfigInputs, EffectiveConfig } from '../../shared/config/effective.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import { ConfigError } from '../../shared/errors.ts';
import type { Wanted } from './decide.ts';

type Layers = Pick<ConfigInputs, 'fluxConfig' | 'providerConfig'>;

/**
 * The namespaces of everything that the shoot gets. A layer with an error counts as absent: what is wrong with it is
 * told elsewhere, and whoever mends it needs a resource-manager that already knows the rest.
 */
export function wantedOf(layers: Layers, doubts: string[]): Wanted {
  try {
    return { namespaces: namespacesOf(effectiveConfig(layers)), doubts };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const isWrong = (provider: boolean) => error.issues.some(({ object }) => (object === PROVIDER_CONFIG) === provider);
    return wantedOf(
      {
        fluxConfig: isWrong(false) ? undefined : layers.fluxConfig,
        providerConfig: isWrong(true) ? undefined : layers.providerConfig,
      },
      [
        ...doubts,
        `the ${isWrong(true) ? PROVIDER_CONFIG : 'ConfigMap flux-config'} has errors, and only the rest counts`,
      ],
    );
  }
}

/** The copied Secrets live where Flux or one of these does. */
function namespacesOf({ flux, source, kustomization }: EffectiveConfig): string[] {
  const namespaces = [flux.namespace, source?.metadata.namespace, kustomization?.metadata.namespace];
  return [...new Set(namespaces.filter((namespace) => namespace !== undefined))];
}
