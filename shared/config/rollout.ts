import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { metadataKey, positiveDuration, secondsIn } from './checks.ts';
import { limits } from './limits.ts';
import { issueAt, type Place } from './origins.ts';
import { isSelected, type Labels, selectorSchema } from './overrides.ts';
import { quote } from './quote.ts';
import { key, listUpTo, requiredKey, ruled, schemaIssues, text } from './schema.ts';
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

/** A number of Shoots. */
const countOf = (least: number) =>
  ruled(z.unknown(), (value) =>
    typeof value === 'number' && isCount(value, least)
      ? undefined
      : `is ${quote(String(value))}; use a whole number from ${least} to ${MOST_SHOOTS}`,
  ) as z.ZodMiniType<number>;

const isCount = (value: number, least: number) => Number.isInteger(value) && value >= least && value <= MOST_SHOOTS;

function amountProblem(value: unknown, least: number): string | undefined {
  const range = `use a whole number from ${least} on, or a percentage from ${least}% to 100%`;
  if (typeof value === 'number') return isCount(value, least) ? undefined : `is ${value}; ${range}`;
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

const landscapeDefaults = { maxInProgress: 20, maxFailed: 2, pause: '15m' } as const;

const selector = (of: string) =>
  key(selectorSchema, { description: `Only ${of}.`, example: '{ matchLabels: { stage: canary } }' });

/** The key `rollout` of a configuration file: how what operators change reaches the Shoots of the landscape. */
export const landscapeRolloutSchema = z.strictObject({
  waves: key(
    listUpTo(
      limits.list,
      z.strictObject({
        name: requiredKey(text(), { description: 'What people call it.', example: 'canary' }),
        shoots: selector('Shoots with these labels'),
        projects: selector('Shoots of projects with these labels'),
        seeds: selector('Shoots on seeds with these labels'),
      }),
    ),
    {
      description:
        'The waves, in their order. A Shoot belongs to the first one that selects it. Those that no wave selects come last.',
      example: '[{ name: canary, shoots: { matchLabels: { stage: canary } } }]',
    },
  ),
  pause: key(text(positiveDuration), {
    description: 'How long nothing has to change in one wave before the next one begins.',
    default: `\`${landscapeDefaults.pause}\``,
    example: '2h',
  }),
  maxInProgress: key(countOf(1), {
    description: 'The most Shoots of the landscape that are changed at the same time.',
    default: `\`${landscapeDefaults.maxInProgress}\``,
    example: '50',
  }),
  maxFailed: key(countOf(0), {
    description: 'The rollout pauses when more Shoots than this are not Ready after the change.',
    default: `\`${landscapeDefaults.maxFailed}\``,
    example: '0',
  }),
  maintenanceWindow: key(z.boolean(), {
    description: 'Whether a Shoot waits for the maintenance window in its `spec.maintenance.timeWindow`.',
    default: '`false`',
    example: 'true',
  }),
});

/** How what operators change reaches the Shoots of the landscape, as the configuration file has it. */
export type LandscapeRollout = z.infer<typeof landscapeRolloutSchema>;

/** Returns the limits with their defaults, and the pause between two waves in seconds. */
export function landscapeLimits({
  waves = [],
  pause = landscapeDefaults.pause,
  maxInProgress = landscapeDefaults.maxInProgress,
  maxFailed = landscapeDefaults.maxFailed,
  maintenanceWindow,
}: LandscapeRollout): Rollout & { pause: number } {
  const order = waves.length === 0 ? undefined : 'wave';
  return { maxInProgress, maxFailed, maintenanceWindow, order, pause: secondsIn(pause) };
}

/** Returns whether a wave asks for the labels of projects, which no object in a seed has. */
export const selectsProjects = ({ waves = [] }: LandscapeRollout): boolean =>
  waves.some(({ projects }) => projects !== undefined);

/** Returns the number of the wave of a Shoot as a text, from `0` on; undefined: it comes last. */
export function waveOf(
  { waves = [] }: LandscapeRollout,
  labels: { shoot: Labels; project: Labels; seed: Labels },
): string | undefined {
  const index = waves.findIndex(
    ({ shoots = {}, projects = {}, seeds = {} }) =>
      isSelected(labels.shoot, shoots) && isSelected(labels.project, projects) && isSelected(labels.seed, seeds),
  );
  return index < 0 ? undefined : String(index);
}
