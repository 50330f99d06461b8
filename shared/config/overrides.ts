import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import type { Override, Overrides } from './document-types.ts';
import { schemaIssues } from './issues.ts';
import { selectorIssues, selectorSchema } from './label-selector.ts';
import { limits } from './limits.ts';
import { inside, issueAt, type Place } from './place.ts';
import { requiredKey } from './schema.ts';
import type { LabelSelector } from './selected.ts';
import { entriesProblem, sizeProblem } from './size-limit.ts';
import { asObject } from './values.ts';

const overrideSchema = z.strictObject({
  selector: requiredKey(z.looseObject({}), { description: '', example: '{ matchLabels: { stage: dev } }' }),
  config: requiredKey(z.looseObject({}), { description: '', example: '{ flux: { version: v2.9.4 } }' }),
});

/** Reads `overrides.yaml` up to the selectors; `projectLayers` reads the `config` of an entry. */
export function readOverrides(value: unknown, place: Place): Overrides {
  if (value === undefined || value === null) return { entries: [], issues: [] };
  const problem = Array.isArray(value) ? (sizeProblem(value) ?? listProblem(value)) : NOT_A_LIST;
  if (problem !== undefined) return { entries: [], issues: [issueAt(place, '', problem)] };
  const read = (value as unknown[]).map((entry, index) => readEntry(entry, inside(place, `[${index}]`)));
  return {
    entries: read.flatMap(({ entry }) => entry ?? []),
    issues: read.flatMap(({ issues }) => issues),
  };
}

const NOT_A_LIST = 'must be a list of entries with selector and config; start each entry with "- "';

function listProblem(entries: unknown[]): string | undefined {
  return entries.length > limits.list.most ? entriesProblem(entries.length) : undefined;
}

function readEntry(value: unknown, place: Place): { entry?: Override; issues: ConfigIssue[] } {
  const issues = schemaIssues(place, overrideSchema, value);
  const { selector, config } = asObject(value) ?? {};
  if (issues.length > 0) return { issues };
  // With null, as for a label whose value was forgotten: left out, the selector would select more Shoots.
  const at = inside(place, 'selector');
  const parsed = selectorSchema.safeParse(selector);
  const ofSelector = parsed.success
    ? selectorIssues(selector as LabelSelector, at)
    : schemaIssues(at, selectorSchema, selector);
  if (!parsed.success || ofSelector.length > 0) return { issues: ofSelector };
  return { entry: { selector: selector as LabelSelector, config, place: inside(place, 'config') }, issues: [] };
}
