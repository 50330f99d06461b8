import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { labelValue, metadataKey } from './checks.ts';
import { pathText, wrongType } from './issues.ts';
import { limits, MOST_ISSUES_OF_A_PART } from './limits.ts';
import { inside, issueAt, type Place } from './place.ts';
import { requiredKey, text } from './schema.ts';
import type { LabelSelector, Requirement } from './selected.ts';
import { entriesProblem } from './size-limit.ts';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const satisfies Requirement['operator'][];

/** A requirement of `matchExpressions`. */
const expressionSchema = z.strictObject({
  key: requiredKey(text(metadataKey), { description: '', example: 'example.com/stage' }),
  operator: requiredKey(z.enum(operators), { description: '', example: 'In' }),
  values: z.optional(z.array(text(labelValue))),
});

/**
 * A label selector of Kubernetes. `selectorIssues` checks the labels of `matchLabels`: the result of a schema leaves out the
 * key `__proto__`, and a selector without it would select more.
 */
export const selectorSchema = z.strictObject({
  matchLabels: z.optional(z.looseObject({})),
  matchExpressions: z.optional(z.array(expressionSchema)),
});

/** Returns the issues of a selector that has the form of one. */
export function selectorIssues(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  place: Place,
): ConfigIssue[] {
  const labels = Object.entries(matchLabels);
  const lengths = [
    { field: 'matchLabels', entries: labels.length },
    { field: 'matchExpressions', entries: matchExpressions.length },
  ].filter(({ entries }) => entries > limits.list.most);
  if (lengths.length > 0) return lengths.map(({ field, entries }) => issueAt(place, field, entriesProblem(entries)));
  const ofLabels = labels.flatMap(([key, value]) => {
    const problem = metadataKey(key) ?? (typeof value === 'string' ? labelValue(value) : wrongType('string', value));
    return problem === undefined ? [] : [issueAt(place, pathText(['matchLabels', key]), problem)];
  });
  const ofExpressions = matchExpressions.flatMap((expression, index) => {
    const problem = valuesProblem(expression);
    return problem === undefined ? [] : [issueAt(inside(place, `matchExpressions[${index}]`), 'values', problem)];
  });
  return [...ofLabels, ...ofExpressions].slice(0, MOST_ISSUES_OF_A_PART);
}

function valuesProblem({ operator, values = [] }: Requirement): string | undefined {
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues && values.length === 0) return `is missing; ${operator} needs at least one value`;
  if (!needsValues && values.length > 0) return `is not read with ${operator}; remove it`;
  return values.length > limits.list.most ? entriesProblem(values.length) : undefined;
}
