import type { Documents, Overrides } from './document-types.ts';
import { type FluxConfigMap, fluxConfigObject, sizeIssue } from './flux-config-map.ts';
import { issueAt } from './place.ts';
import { readYamlText } from './yaml-text.ts';

/** The keys of `flux-config` that hold YAML: a whole FluxConfig, and the list of deviations for some Shoots. */
export const CONFIG_YAML = 'config.yaml';
export const OVERRIDES_YAML = 'overrides.yaml';

/** Returns the ConfigMap with its YAML read. One without these keys is returned as it is, without loading a parser. */
export async function withDocuments(fluxConfig: FluxConfigMap): Promise<FluxConfigMap> {
  const [config, overrides] = [textOf(fluxConfig, CONFIG_YAML), textOf(fluxConfig, OVERRIDES_YAML)];
  if (config + overrides === '' || sizeIssue(fluxConfig) !== undefined) return fluxConfig;
  const documents = {
    config: config === '' ? undefined : await readYamlText(config),
    overrides: overrides === '' ? undefined : await overridesIn(fluxConfig, overrides),
  };
  return { ...fluxConfig, documents };
}

async function overridesIn({ namespace }: FluxConfigMap, text: string): Promise<Overrides> {
  const place = { object: fluxConfigObject(namespace), path: OVERRIDES_YAML };
  const document = await readYamlText(text);
  if ('problem' in document) return { entries: [], issues: [issueAt(place, '', document.problem)] };
  const { readOverrides } = await import('./overrides.ts');
  return readOverrides(document.value, place);
}

/** Returns the documents of a ConfigMap that passed through `withDocuments`. */
export function documentsOf(fluxConfig: FluxConfigMap): Documents {
  const { documents } = fluxConfig;
  if (documents !== undefined) return documents;
  if (textOf(fluxConfig, CONFIG_YAML) + textOf(fluxConfig, OVERRIDES_YAML) === '') {
    return { config: undefined, overrides: undefined };
  }
  throw new Error('config.yaml or overrides.yaml was not read: the ConfigMap must pass through withDocuments');
}

/** A ConfigMap from a file may hold other values than strings, which the schema reports. */
function textOf({ data }: FluxConfigMap, key: string): string {
  const value: unknown = Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === 'string' ? value.trim() : '';
}
