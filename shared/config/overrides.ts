import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { labelValue, metadataKey } from './checks.ts';
import { entriesProblem, limits } from './limits.ts';
import { inside, issueAt, type Place } from './origins.ts';
import { listUpTo, mapOf, requiredKey, ruled, schemaIssues, text } from './schema.ts';

/** One entry of `overrides.yaml`. */
interface Override {
  selector: LabelSelector;
  /** Its `config`, as the user wrote it. */
  config: unknown;
  place: Place;
}

/** The entries of `overrides.yaml`, in their order, and what keeps them from being read. */
export interface Overrides {
  entries: Override[];
  /** About the list, an entry or a selector: it is unknown which Shoots it is about, so it concerns all of them. */
  issues: ConfigIssue[];
}

/** Returns the entries of `overrides.yaml` that select a Shoot, in their order. */
export function overridesOf({ entries }: Overrides, labels: Readonly<Record<string, string>>): Override[] {
  return entries.filter(({ selector }) => isSelected(labels, selector));
}

/** Reads `overrides.yaml` up to the selectors; `projectLayers` reads the `config` of an entry. */
export function readOverrides(value: unknown, place: Place): Overrides {
  if (value === undefined || value === null) return { entries: [], issues: [] };
  if (!Array.isArray(value)) return { entries: [], issues: [issueAt(place, '', NOT_A_LIST)] };
  if (value.length > limits.list.most)
    return { entries: [], issues: [issueAt(place, '', entriesProblem(value.length))] };
  const read = value.map((entry, index) => readEntry(entry, inside(place, `[${index}]`)));
  return {
    entries: read.flatMap(({ entry }) => entry ?? []),
    issues: read.flatMap(({ issues }) => issues),
  };
}

const NOT_A_LIST = 'must be a list of entries with selector and config; start each entry with "- "';

function readEntry(value: unknown, place: Place): { entry?: Override; issues: ConfigIssue[] } {
  // With null, as for a label whose value was forgotten: left out, the selector would select more Shoots.
  const issues = schemaIssues(place, overrideSchema, value);
  if (issues.length > 0) return { issues };
  const { selector, config } = value as z.infer<typeof overrideSchema>;
  return { entry: { selector, config, place: inside(place, 'config') }, issues: [] };
}

/** A requirement of `matchExpressions`. */
const expressionSchema = ruled(
  z.strictObject({
    key: requiredKey(text(metadataKey), { description: 'The key of a label.', example: 'example.com/stage' }),
    operator: requiredKey(z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']), {
      description: 'How the label is compared.',
      example: 'In',
    }),
    values: z.optional(listUpTo(limits.list, text(labelValue))),
  }),
  valuesProblem,
  ['values'],
);

/** A label selector of Kubernetes. */
export const selectorSchema = z.strictObject({
  matchLabels: z.optional(mapOf(metadataKey, labelValue)),
  matchExpressions: z.optional(listUpTo(limits.list, expressionSchema)),
});

export const overrideSchema = z.strictObject({
  selector: requiredKey(selectorSchema, {
    description: 'The Shoots, by their labels, as in Kubernetes. An empty one selects all.',
    example: '{ matchLabels: { stage: dev } }',
  }),
  config: requiredKey(z.looseObject({}), {
    description: 'A FluxConfig, which these Shoots get above the rest of `flux-config`.',
    example: '{ flux: { version: v2.9.4 } }',
  }),
});

/** A label selector of Kubernetes. */
type LabelSelector = z.infer<typeof selectorSchema>;

function valuesProblem({ operator, values = [] }: { operator: string; values?: string[] | undefined }) {
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues && values.length === 0) return `is missing; ${operator} needs at least one value`;
  return !needsValues && values.length > 0 ? `is not read with ${operator}; remove it` : undefined;
}

export type Labels = Readonly<Record<string, string>>;

/** True when labels fulfil every requirement of a selector, as Kubernetes reads it; an empty one selects everything. */
export function isSelected(labels: Labels, { matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const labelAt = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(matchLabels).every(([key, value]) => labelAt(key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labelAt(key);
      const isListed = value !== undefined && values.includes(value);
      const isTrue = { In: isListed, NotIn: !isListed, Exists: value !== undefined, DoesNotExist: value === undefined };
      return isTrue[operator];
    })
  );
}
