import type { ConfigIssue } from '../errors.ts';
import { quote } from './quote.ts';

/** The ConfigMap `flux-config` as it was read. */
export interface FluxConfigMap {
  namespace: string;
  data: Record<string, string>;
  binaryData?: Record<string, string>;
}

/** What counts of the live ConfigMap, or of the one in a file. */
export function fluxConfigMapOf(namespace: string, configMap: object): FluxConfigMap {
  const { data, binaryData } = configMap as Partial<FluxConfigMap>;
  return { namespace, data: data ?? {}, ...(binaryData && { binaryData }) };
}

/** How errors call the ConfigMap. */
export function fluxConfigObject(namespace: string): string {
  // A file need not say in which project it is.
  return `ConfigMap ${namespace === '' ? '' : `${namespace}/`}flux-config`;
}

/** Where nobody looks for keys: what was made from a file with a byte that is no text ends there. */
export function binaryIssues({ namespace, data, binaryData = {} }: FluxConfigMap): ConfigIssue[] {
  const remedy = (key: string) => (key in data ? 'remove it' : 'move it to data');
  return Object.keys(binaryData).map((key) => ({
    object: fluxConfigObject(namespace),
    path: 'binaryData',
    message: `${quote(key)} is not read from binaryData; ${remedy(key)}`,
  }));
}
