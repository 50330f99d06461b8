import type { ConfigIssue } from '../errors.ts';
import { limits, MOST_ISSUES_OF_A_PART } from './limits.ts';
import { quote } from './quote.ts';
import { configurationProblem } from './size-limit.ts';

/** The ConfigMap `flux-config` as it was read. */
export interface FluxConfigMap {
  namespace: string;
  data: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** Returns the relevant fields of a ConfigMap, live or from a file. */
export function fluxConfigMapOf(namespace: string, configMap: object): FluxConfigMap {
  const { data, binaryData } = configMap as Partial<FluxConfigMap>;
  return { namespace, data: data ?? {}, ...(binaryData && { binaryData }) };
}

/** Returns the name of the ConfigMap in errors. */
export function fluxConfigObject(namespace: string): string {
  // A ConfigMap from a file may have no namespace.
  return `ConfigMap ${namespace === '' ? '' : `${namespace}/`}flux-config`;
}

/** Returns the issue with a ConfigMap that is too long to be read. */
export function sizeIssue({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue | undefined {
  let characters = 0;
  for (const fields of [data, binaryData]) {
    for (const key in fields) characters += key.length + (fields[key]?.length ?? 0);
  }
  return characters > limits.configuration.most * 1024
    ? { object: fluxConfigObject(namespace), path: '', message: configurationProblem() }
    : undefined;
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
