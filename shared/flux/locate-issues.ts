import type { ConfigInputs } from '../config/effective.ts';
import { PROVIDER_CONFIG } from '../config/provider-config.ts';
import { fluxConfigObject } from '../config/repository.ts';
import { ConfigError, type ConfigIssue } from '../runtime/errors.ts';

/** What is wrong with the layers together, before it is known which of them says so. */
export const MERGED_CONFIG = 'configuration';

/** Path in the merged configuration -> the keys of `flux` in the providerConfig that may have set it. */
const keys: Record<string, string[]> = {
  'flux.version': ['version'],
  'flux.namespace': ['namespace'],
  'flux.components': ['componentsExtra', 'components'],
};

/** In the ConfigMap they have the same names but for one. */
const inConfigMap = (key: string) => (key === 'version' ? 'fluxVersion' : key);

/**
 * A ConfigError about the merged configuration becomes one that names the layer and its key, where a layer names it;
 * every other error stays as it is.
 */
export function locateIssues(error: unknown, inputs: ConfigInputs): unknown {
  if (!(error instanceof ConfigError)) return error;
  return new ConfigError(
    error.issues.map((issue) => (issue.object === MERGED_CONFIG ? { ...issue, ...locate(issue, inputs) } : issue)),
  );
}

function locate({ path }: ConfigIssue, { fluxConfig, providerConfig }: ConfigInputs): Partial<ConfigIssue> {
  const flux = (providerConfig as { flux?: Record<string, unknown> | null } | null | undefined)?.flux;
  if (/^(source|kustomization)\./.test(path)) return { object: PROVIDER_CONFIG };
  const own = keys[path]?.find((key) => flux?.[key] !== undefined);
  if (own !== undefined) return { object: PROVIDER_CONFIG, path: `flux.${own}` };
  const shared = keys[path]?.map(inConfigMap).find((key) => fluxConfig?.data[key] !== undefined);
  if (shared === undefined || fluxConfig === undefined) return {};
  return { object: fluxConfigObject(fluxConfig.namespace), path: shared };
}
