/** Nothing that stays wrong is looked at more rarely than this: a repaired cluster is noticed within a quarter of an hour. */
export const LONGEST_PAUSE_SECONDS = 900;

/**
 * Returns the seconds until the next look at something that has been wrong for so long: at most a quarter of that time,
 * so that load follows what changes, and not what fails (decision 32). It doubles, because looks for the same time merge
 * only if they ask for the same pause.
 * @param shortest the pause at the beginning
 */
export function growingPause(wrongForSeconds: number, shortest: number): number {
  let pause = shortest;
  while (pause < LONGEST_PAUSE_SECONDS && pause * 2 <= wrongForSeconds / 4) pause *= 2;
  return Math.min(pause, LONGEST_PAUSE_SECONDS);
}

/** Returns the seconds since a time, in ms or RFC 3339; 0 for a time to come and for what is no time. */
export function secondsSince(time: string | number | undefined, now: Date): number {
  const millis = typeof time === 'number' ? time : Date.parse(time ?? '');
  return Number.isNaN(millis) ? 0 : Math.max(0, (now.getTime() - millis) / 1000);
}

/** Returns a time in whole seconds since 1970. */
export const epochSeconds = (time: Date): number => Math.floor(time.getTime() / 1000);
