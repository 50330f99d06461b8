import { safeText } from '../runtime/safe-text.ts';
import { fieldsOf, parsedJson } from '../shapes.ts';
import { SUSPENDED } from './project-config.ts';

/** Who has suspended Flux in a project, when and why: the value of the annotation, as JSON. */
export interface Suspension {
  by: string;
  /** RFC 3339. */
  since: string;
  reason: string;
}

/** In characters. */
export const LONGEST_REASON = 200;

/** More of a value is not read. */
const MOST_READ = 2_000;

/**
 * Returns who has suspended a project, for example `by mia since 2026-01-02T03:04:05Z: leaked key`; undefined: nobody. Any
 * value suspends, also one that a person has written by hand.
 */
export function suspensionOf(annotations: Readonly<Record<string, string>> = {}): string | undefined {
  const value = annotations[SUSPENDED];
  if (value === undefined) return undefined;
  const { by, since, reason } = fieldsOf(parsedJson(value.slice(0, MOST_READ))) ?? {};
  const isWhole = [by, since, reason].every((text) => typeof text === 'string');
  if (!isWhole) return `by the annotation ${SUSPENDED} on ConfigMap flux-config: ${safeText(value, LONGEST_REASON)}`;
  return `by ${safeText(`${by}`, 100)} since ${safeText(`${since}`, 40)}: ${safeText(`${reason}`, LONGEST_REASON)}`;
}
