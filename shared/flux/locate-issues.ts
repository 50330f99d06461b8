import type { ConfigInputs } from '../config/effective.ts';
import { fluxConfigObject } from '../config/flux-config-map.ts';
import { PROVIDER_CONFIG } from '../config/provider-config.ts';
import { given } from '../config/values.ts';
import { ConfigError, type ConfigIssue } from '../errors.ts';

/** What is wrong with the layers together, before it is known which of them says so. */
export const MERGED_CONFIG = 'configuration';

/** Path in the merged configuration -> the keys of `flux` in the providerConfig that may have set it. */
const keys: Record<string, string[]> = {
  'flux.version': ['version'],
  'flux.namespace': ['namespace'],
  'flux.components': ['components', 'componentsExtra'],
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

function locate({ path }: ConfigIssue, inputs: ConfigInputs): Partial<ConfigIssue> {
  const component = /^flux\.components\[(.+)\]$/.exec(path)?.[1];
  if (component !== undefined) return locateComponent(component, inputs);
  const { fluxConfig, providerConfig } = inputs;
  const flux = (providerConfig as { flux?: Record<string, unknown> | null } | null | undefined)?.flux;
  if (/^(source|kustomization)\./.test(path)) return { object: PROVIDER_CONFIG };
  const own = keys[path]?.find((key) => flux?.[key] !== undefined);
  if (own !== undefined) return { object: PROVIDER_CONFIG, path: `flux.${own}` };
  const shared = keys[path]?.map(inConfigMap).find((key) => fluxConfig?.data[key] !== undefined);
  if (shared === undefined || fluxConfig === undefined) return {};
  return { object: fluxConfigObject(fluxConfig.namespace), path: shared };
}

/** A component is in one of two lists, each of which the layers set apart from the other. */
function locateComponent(component: string, { fluxConfig, providerConfig }: ConfigInputs): Partial<ConfigIssue> {
  const lists = ['components', 'componentsExtra'];
  const flux = given(given(providerConfig)?.flux) ?? {};
  for (const list of lists) {
    const own = flux[list];
    const index = Array.isArray(own) ? own.indexOf(component) : -1;
    if (index >= 0) return { object: PROVIDER_CONFIG, path: `flux.${list}[${index}]` };
  }
  const shared = lists.find((list) => fluxConfig?.data[list]?.split(/[\s,]+/).includes(component));
  if (shared === undefined || fluxConfig === undefined) return { path: 'flux.components' };
  return { object: fluxConfigObject(fluxConfig.namespace), path: shared };
}
