import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { metadataKey } from './checks.ts';
import { issueAt, type Place } from './origins.ts';
import { quote } from './quote.ts';
import { key, ruled, schemaIssues, text } from './schema.ts';
import type { Read } from './types.ts';
import { asObject, withoutNulls } from './values.ts';

/** A number of Shoots, or a percentage of all Shoots of the project, for example `10%`. */
export type Amount = number | string;

/** How an edit reaches the Shoots of a project. */
export interface Rollout {
  maxInProgress: Amount;
  maxFailed: Amount;
  /** The key of a label of the Shoots. */
  order?: string | undefined;
  /** True: a Shoot is changed only in its maintenance window. */
  maintenanceWindow?: boolean | undefined;
}

/** What a project gets that does not say how many. */
const rolloutDefaults = { maxInProgress: '10%', maxFailed: '5%' } as const;

/** The most Shoots that one number can mean; a project with more uses a percentage. */
const MOST_SHOOTS = 10_000;

/** A number of Shoots, or a percentage of all Shoots of the project. */
const amount = (least: number) => ruled(z.unknown(), (value) => amountProblem(value, least));

function amountProblem(value: unknown, least: number): string | undefined {
  const range = `use a whole number from ${least} on, or a percentage from ${least}% to 100%`;
  if (typeof value === 'number') {
    return Number.isInteger(value) && value >= least && value <= MOST_SHOOTS ? undefined : `is ${value}; ${range}`;
  }
  if (typeof value !== 'string') return `is not a number; ${range}`;
  const percent = /^(\d{1,3})%$/.exec(value)?.[1];
  const isPercent = percent !== undefined && Number(percent) >= least && Number(percent) <= 100;
  return isPercent ? undefined : `is ${quote(value)}; ${range}`;
}

/** The key `rollout` of `flux-config`. */
export const rolloutSchema = z.strictObject({
  maxInProgress: key(amount(1), {
    description: 'The most Shoots that are changed at the same time. A percentage is rounded up.',
    default: `\`${rolloutDefaults.maxInProgress}\``,
    example: '20',
  }),
  maxFailed: key(amount(0), {
    description:
      'The rollout pauses when more Shoots than this are not Ready after the change. A percentage is rounded down.',
    default: `\`${rolloutDefaults.maxFailed}\``,
    example: '0',
  }),
  order: key(text(metadataKey), {
    description:
      'The key of a label of the Shoots. Those with its lowest value come first, numbers before texts, and those without the label last; a value begins when the one before it is done.',
    example: 'stage',
  }),
  maintenanceWindow: key(z.boolean(), {
    description: 'Whether a Shoot waits for the maintenance window in its `spec.maintenance.timeWindow`.',
    default: '`false`',
    example: 'true',
  }),
});

/** Reads the key `rollout`, which may be empty. */
export function readRollout(value: unknown, place: Place): Read<Rollout> {
  if (value === undefined || value === null) return { issues: [] };
  const issues: ConfigIssue[] =
    asObject(value) === undefined
      ? [issueAt(place, '', 'must be a map; write for example { maxInProgress: 10%, maxFailed: 5% }')]
      : schemaIssues(place, rolloutSchema, withoutNulls(value));
  if (issues.length > 0) return { issues };
  return { value: { ...rolloutDefaults, ...(withoutNulls(value) as Partial<Rollout>) }, issues };
}
