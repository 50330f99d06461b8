import type { Documents, Overrides, RolloutDocument } from './document-types.ts';
import { type FluxConfigMap, fluxConfigObject } from './flux-config-map.ts';
import { readOverrides } from './overrides.ts';
import { issueAt } from './place.ts';
import { readRollout } from './rollout.ts';
import { readYamlText } from './yaml-text.ts';

/** The keys of `flux-config` that hold YAML: a whole FluxConfig, the list of deviations for some Shoots, and the rollout. */
export const CONFIG_YAML = 'config.yaml';
export const OVERRIDES_YAML = 'overrides.yaml';
export const ROLLOUT = 'rollout';

/** Returns the ConfigMap with its YAML read. One without these keys is returned as it is, without loading a parser. */
export async function withDocuments(fluxConfig: FluxConfigMap): Promise<FluxConfigMap> {
  const [config, overrides] = [textOf(fluxConfig, CONFIG_YAML), textOf(fluxConfig, OVERRIDES_YAML)];
  const rollout = textOf(fluxConfig, ROLLOUT);
  if (config + overrides + rollout === '') return fluxConfig;
  const documents = {
    config: config === '' ? undefined : await readYamlText(config),
    overrides: overrides === '' ? undefined : await overridesIn(fluxConfig, overrides),
    ...(rollout !== '' && { rollout: await rolloutIn(fluxConfig, rollout) }),
  };
  return { ...fluxConfig, documents };
}

async function overridesIn({ namespace }: FluxConfigMap, text: string): Promise<Overrides> {
  const place = { object: fluxConfigObject(namespace), path: OVERRIDES_YAML };
  const document = await readYamlText(text);
  if ('problem' in document) return { entries: [], issues: [issueAt(place, '', document.problem)] };
  return readOverrides(document.value, place);
}

async function rolloutIn({ namespace }: FluxConfigMap, text: string): Promise<RolloutDocument> {
  const place = { object: fluxConfigObject(namespace), path: ROLLOUT };
  const document = await readYamlText(text);
  if ('problem' in document) return { rollout: undefined, issues: [issueAt(place, '', document.problem)] };
  return readRollout(document.value, place);
}

/** Returns the documents of a ConfigMap that passed through `withDocuments`. */
export function documentsOf(fluxConfig: FluxConfigMap): Documents {
  const { documents } = fluxConfig;
  if (documents !== undefined) return documents;
  if ([CONFIG_YAML, OVERRIDES_YAML, ROLLOUT].every((key) => textOf(fluxConfig, key) === '')) {
    return { config: undefined, overrides: undefined };
  }
  throw new Error('a key with YAML was not read: the ConfigMap must pass through withDocuments');
}

/** A ConfigMap from a file may hold other values than strings, which the schema reports. */
function textOf({ data }: FluxConfigMap, key: string): string {
  const value: unknown = Object.hasOwn(data, key) ? data[key] : undefined;
  return typeof value === 'string' ? value.trim() : '';
}
