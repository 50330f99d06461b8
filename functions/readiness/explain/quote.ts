import type { KubeObject } from '../../../shared/kube/resource.ts';
import { safeText } from '../../../shared/runtime/safe-text.ts';
import { type Spec, specOf } from '../seen.ts';

/** Shown instead of a message of Flux that may quote a Secret. */
export const WITHHELD = '(The original message is withheld because it may contain Secret data.)';

/** Quotes a message of Flux in one line of bounded length, without secrets; `WITHHELD` if it may quote a Secret. */
export function quote(object: KubeObject, message: string): string {
  if (mayQuoteSecret(object, message)) return WITHHELD;
  return safeText(withoutSecretValues(object, message));
}

/**
 * Webhooks choose their own words, and API servers quote the parts of a Secret that they cannot read.
 * kustomize-controller quotes all of a manifest without a name, whatever its kind, and kustomize both of two objects that
 * have become one.
 */
function mayQuoteSecret(object: KubeObject, message: string): boolean {
  return (
    /^Secret\/\S+ .*(?:denied|Invalid value|typed patch object|unmarshal|decod)/s.test(message) ||
    message.includes('failed to decode Kubernetes apiVersion, kind and name from') ||
    message.includes('namespace transformation produces ID conflict') ||
    (takesValuesFromSecret(specOf(object)) && QUOTES_VALUES.test(message))
  );
}

/** Templates of charts, and the schemas of their values, may quote values; so may parsers of YAML. */
const QUOTES_VALUES =
  /Helm \w+ failed.{0,500}?(?:executing "|execution error at|values don't meet the specifications|MalformedYAML|YAML parse error)|chart values reference .{0,500}?: error (?:converting|unmarshaling)/s;

const takesValuesFromSecret = ({ valuesFrom = [] }: Spec) => valuesFrom.some(({ kind }) => kind === 'Secret');

/** API servers quote the values that they reject; values that were substituted or decrypted must not be shown. */
function withoutSecretValues(object: KubeObject, message: string): string {
  const spec = specOf(object);
  const isSecret =
    spec.decryption !== undefined ||
    takesValuesFromSecret(spec) ||
    spec.postBuild?.substituteFrom?.some(({ kind }) => kind === 'Secret');
  if (!isSecret) return message;
  return message
    .replace(/((?:Invalid|Unsupported|Duplicate) value: )(?:"(?:\\.|[^"\\])*"|\{.*?\}(?=: )|[^\s:]+)/gs, '$1"***"')
    .replace(/(valueUnstructured\{Value:).*/gs, '$1***')
    .replace(/(unknown anchor )'[^']*'|(cannot unmarshal \S+ )`[^`]*`/g, '$1$2***');
}
