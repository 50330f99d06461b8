import type { ConfigIssue } from '../errors.ts';
import { entriesProblem, limits, MOST_ISSUES_OF_A_PART, sizeProblem } from './limits.ts';
import { issueAt, type Place } from './origins.ts';
import { readOverrides } from './overrides.ts';
import { quote } from './quote.ts';
import { readRollout } from './rollout.ts';
import { asObject, asString } from './values.ts';
import { readYamlText, type YamlText } from './yaml-text.ts';

/** The keys of `flux-config` that hold YAML: a whole FluxConfig, the list of deviations for some Shoots, and the rollout. */
export const CONFIG_YAML = 'config.yaml';
export const OVERRIDES_YAML = 'overrides.yaml';
export const ROLLOUT = 'rollout';

/** The key that says whether Git hosts may report pushes. It is about the project, and not about its Shoots. */
export const PUSH = 'push';

/** Returns whether Git hosts may report pushes to a project. */
export function isPushOn(configMap: object | undefined): boolean {
  return asString(asObject(asObject(configMap)?.data)?.[PUSH])?.trim() === 'true';
}

/** The ConfigMap `flux-config` as it was read. */
export interface FluxConfigMap {
  namespace: string;
  data: Record<string, string>;
  binaryData?: Record<string, string>;
  /** Set for a ConfigMap that is too large to be read; only the deletion policy is left of its `data`. */
  tooLarge?: ConfigIssue;
}

/**
 * Returns the relevant fields of a ConfigMap, live or from a file. The content of one that is too large ends here: every
 * later look through 20,000 keys would take several milliseconds.
 */
export function fluxConfigMapOf(namespace: string, configMap: object): FluxConfigMap {
  const { data: given, binaryData } = configMap as Partial<FluxConfigMap>;
  const [data, binary] = [given ?? {}, binaryData ?? {}];
  const entries = Object.keys(data).length + Object.keys(binary).length;
  const message = entries > limits.list.most ? entriesProblem(entries) : sizeProblem([data, binary]);
  if (message === undefined) return { namespace, data, ...(binaryData && { binaryData }) };
  const { deletionPolicy } = data;
  const tooLarge = { object: fluxConfigObject(namespace), path: '', message };
  return { namespace, data: deletionPolicy === undefined ? {} : { deletionPolicy }, tooLarge };
}

/** Reads the keys with YAML. The value of an empty one is null, as that of one that cannot be read, which has issues. */
export function documentsOf({ namespace, data }: FluxConfigMap) {
  const read = (path: string) => {
    const place: Place = { object: fluxConfigObject(namespace), path };
    // A ConfigMap from a file may hold other values than strings, which the schema reports.
    const text = asString(asObject(data)?.[path])?.trim() ?? '';
    const document: YamlText = text === '' ? { value: null } : readYamlText(text);
    if ('value' in document) return { place, value: document.value, issues: [] };
    return { place, value: null, issues: [issueAt(place, '', document.problem)] };
  };
  const [config, overrides, rollout] = [read(CONFIG_YAML), read(OVERRIDES_YAML), read(ROLLOUT)];
  const { entries, issues } = readOverrides(overrides.value, overrides.place);
  const settings = readRollout(rollout.value, rollout.place);
  return {
    config,
    overrides: { entries, issues: [...overrides.issues, ...issues] },
    rollout: { value: settings.value, issues: [...rollout.issues, ...settings.issues] },
  };
}

/** True for the name of a `flux-config` in errors, whose content is of the project, and not of one Shoot. */
export function isFluxConfigObject(object: string): boolean {
  return /^ConfigMap (\S*\/)?flux-config$/.test(object);
}

/** Returns the name of the ConfigMap in errors. */
export function fluxConfigObject(namespace: string): string {
  // A ConfigMap from a file may have no namespace.
  return `ConfigMap ${namespace === '' ? '' : `${namespace}/`}flux-config`;
}

/** Reports keys in `binaryData`, where `kubectl create --from-file` puts a file that is not valid UTF-8. */
export function binaryIssues({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue[] {
  const remedy = (key: string) => (Object.hasOwn(data, key) ? 'remove it' : 'move it to data');
  return Object.keys(binaryData)
    .slice(0, MOST_ISSUES_OF_A_PART)
    .map((key) => ({
      object: fluxConfigObject(namespace),
      path: 'binaryData',
      message: `contains ${quote(key)}, which is not read; ${remedy(key)}`,
    }));
}
