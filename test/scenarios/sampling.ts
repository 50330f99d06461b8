import { createHash } from 'node:crypto';

/**
 * How many kills the kill suites make in each lifecycle for each kind of kill, set by `SHOOT_FLUX_KILLS`:
 * a number: so many states, chosen by the seed; `states`: every state; `all`: before and after every single request.
 */
export const sampling = readSampling(process.env.SHOOT_FLUX_KILLS || '1');

/** `SHOOT_FLUX_SEED`: any text; another seed chooses other states. */
export const seed = process.env.SHOOT_FLUX_SEED || '1';

/** The seed as a number, for fast-check. */
export const numericSeed = [...seed].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) | 0, 7);

/** Describes the sampling in titles. */
export const samplingText =
  typeof sampling === 'number'
    ? `${sampling} ${sampling === 1 ? 'state' : 'states'} for each kind of kill, seed ${seed}`
    : { states: 'in every state', all: 'at every request' }[sampling];

/** Returns the part of the list that the seed chooses, in the list's order; the whole list where nothing is sampled. */
export function sample<T>(list: T[], name: string): T[] {
  if (typeof sampling !== 'number') return list;
  const ranked = list.map((item, index) => ({ item, index, rank: hash(`${seed} ${name} ${index}`) }));
  ranked.sort((one, other) => one.rank.localeCompare(other.rank));
  return ranked
    .slice(0, sampling)
    .sort((one, other) => one.index - other.index)
    .map(({ item }) => item);
}

/** The command that repeats one test with the same sample. */
export function commandFor(file: string, title: string): string {
  const text = `'${title.replaceAll("'", "'\\''")}'`;
  return `SHOOT_FLUX_KILLS=${sampling} SHOOT_FLUX_SEED=${seed} npx vitest run ${file} -t ${text}`;
}

function readSampling(text: string): number | 'states' | 'all' {
  if (text === 'states' || text === 'all') return text;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`SHOOT_FLUX_KILLS must be a number, "states" or "all", not "${text}".`);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
