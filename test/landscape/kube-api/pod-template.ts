import { type FieldError, fieldError } from './errors.ts';
import { type ApiObject, asArray, asObject, type JsonObject } from './json.ts';
import { labelMatcher } from './selectors.ts';

/** The rule of workloads: what they select are the Pods that they make. */
export function podTemplateErrors(workload: ApiObject): FieldError[] {
  const { selector, template } = asObject(workload.spec);
  if (selector === undefined || template === undefined) return [];
  const labels = asObject(asObject(asObject(template).metadata).labels);
  const pod: ApiObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: '', labels } } as ApiObject;
  if (labelMatcher(selectorText(asObject(selector)))(pod)) return [];
  return [fieldError.invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

/** A LabelSelector as the text that requests carry. */
function selectorText({ matchLabels, matchExpressions }: JsonObject): string {
  const equalities = Object.entries(asObject(matchLabels)).map(([key, value]) => `${key}=${value}`);
  const expressions = asArray(matchExpressions)
    .map(asObject)
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return `${key}`;
      if (operator === 'DoesNotExist') return `!${key}`;
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${asArray(values).join(',')})`;
    });
  return [...equalities, ...expressions].join(',');
}
