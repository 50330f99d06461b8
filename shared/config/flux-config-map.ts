import type { ConfigIssue } from '../errors.ts';
import { configurationProblem, entriesProblem, limits, MOST_ISSUES_OF_A_PART } from './limits.ts';
import { issueAt, type Place } from './origins.ts';
import { type Overrides, readOverrides } from './overrides.ts';
import { quote } from './quote.ts';
import { type RolloutDocument, readRollout } from './rollout.ts';
import { asObject, asString } from './values.ts';
import { readYamlText, type YamlText } from './yaml-text.ts';

/** The keys of `flux-config` that hold YAML: a whole FluxConfig, the list of deviations for some Shoots, and the rollout. */
export const CONFIG_YAML = 'config.yaml';
export const OVERRIDES_YAML = 'overrides.yaml';
export const ROLLOUT = 'rollout';

/** What the keys with YAML hold; absent: nothing. */
interface Documents {
  config?: YamlText | undefined;
  overrides?: Overrides | undefined;
  rollout?: RolloutDocument | undefined;
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
  const { data, binaryData } = configMap as Partial<FluxConfigMap>;
  const read = { namespace, data: data ?? {}, ...(binaryData && { binaryData }) };
  const tooLarge = sizeIssue(read);
  if (tooLarge === undefined) return read;
  const { deletionPolicy } = read.data;
  return { namespace, data: deletionPolicy === undefined ? {} : { deletionPolicy }, tooLarge };
}

/** Reads the keys with YAML. */
export function documentsOf({ namespace, data }: FluxConfigMap): Documents {
  const read = <T>(path: string, readValue: (document: YamlText, place: Place) => T): T | undefined => {
    // A ConfigMap from a file may hold other values than strings, which the schema reports.
    const text = asString(asObject(data)?.[path])?.trim() ?? '';
    return text === '' ? undefined : readValue(readYamlText(text), { object: fluxConfigObject(namespace), path });
  };
  return {
    config: read(CONFIG_YAML, (document) => document),
    overrides: read(OVERRIDES_YAML, (document, place) =>
      'problem' in document
        ? { entries: [], issues: [issueAt(place, '', document.problem)] }
        : readOverrides(document.value, place),
    ),
    rollout: read(ROLLOUT, (document, place) =>
      'problem' in document
        ? { rollout: undefined, issues: [issueAt(place, '', document.problem)] }
        : readRollout(document.value, place),
    ),
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

/** Returns the issue with a ConfigMap that is too large to be read. */
function sizeIssue({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue | undefined {
  const entries = Object.keys(data).length + Object.keys(binaryData).length;
  const message =
    entries > limits.list.most
      ? entriesProblem(entries)
      : charactersIn(data) + charactersIn(binaryData) > limits.configuration.most * 1024
        ? configurationProblem()
        : undefined;
  return message === undefined ? undefined : { object: fluxConfigObject(namespace), path: '', message };
}

/** A ConfigMap from a file may hold other values than strings. */
function charactersIn(fields: Record<string, unknown>): number {
  const lengths = Object.entries(fields).map(
    ([key, value]) => key.length + (typeof value === 'string' ? value.length : 0),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
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
