import type { ConfigIssue } from '../errors.ts';
import type { Documents } from './document-types.ts';
import { limits, MOST_ISSUES_OF_A_PART } from './limits.ts';
import { quote } from './quote.ts';
import { configurationProblem, entriesProblem } from './size-limit.ts';

/** The ConfigMap `flux-config` as it was read. */
export interface FluxConfigMap {
  namespace: string;
  data: Record<string, string>;
  binaryData?: Record<string, string>;
  /** The YAML in `data`; `withDocuments` reads it. */
  documents?: Documents;
}

/** Returns the relevant fields of a ConfigMap, live or from a file. */
export function fluxConfigMapOf(namespace: string, configMap: object): FluxConfigMap {
  const { data, binaryData } = configMap as Partial<FluxConfigMap>;
  return { namespace, data: data ?? {}, ...(binaryData && { binaryData }) };
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

/** Returns the issue with a ConfigMap that is too long to be read. */
export function sizeIssue({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue | undefined {
  const fields = [...Object.entries(data), ...Object.entries(binaryData)];
  const characters = fields.reduce((sum, [key, value]) => sum + key.length + lengthOf(value), 0);
  const message =
    fields.length > limits.list.most
      ? entriesProblem(fields.length)
      : characters > limits.configuration.most * 1024
        ? configurationProblem()
        : undefined;
  return message === undefined ? undefined : { object: fluxConfigObject(namespace), path: '', message };
}

/** A ConfigMap from a file may hold other values than strings. */
function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
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
