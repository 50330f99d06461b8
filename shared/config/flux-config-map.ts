import type { ConfigIssue } from '../errors.ts';
import { quote } from './quote.ts';

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

/** Reports keys in `binaryData`, where `kubectl create --from-file` puts a file that is not valid UTF-8. */
export function binaryIssues({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue[] {
  const remedy = (key: string) => (key in data ? 'remove it' : 'move it to data');
  return Object.keys(binaryData).map((key) => ({
    object: fluxConfigObject(namespace),
    path: 'binaryData',
    message: `contains ${quote(key)}, which is not read; ${remedy(key)}`,
  }));
}
