/** A maintenance window of a Shoot: `begin` and `end` as Gardener writes them, for example `220000+0100`. */
export interface TimeWindow {
  begin?: string | undefined;
  end?: string | undefined;
}

const FORM = /^(\d\d)(\d\d)(\d\d)([+-])(\d\d)(\d\d)$/;
const DAY = 86_400;

/**
 * Returns the seconds until a Shoot's maintenance window begins; 0 within it. A Shoot without a window that can be read
 * has none to wait for: Gardener gives each one a window.
 */
export function secondsUntilWindow(window: TimeWindow | undefined, now: Date): number {
  const [begin, end] = [secondOfDay(window?.begin), secondOfDay(window?.end)];
  if (begin === undefined || end === undefined) return 0;
  const time = Math.floor(now.getTime() / 1000) % DAY;
  // The window may pass midnight.
  const length = modulo(end - begin);
  return modulo(time - begin) < length ? 0 : modulo(begin - time);
}

/** The second of the day in UTC. */
function secondOfDay(text: string | undefined): number | undefined {
  const found = FORM.exec(text ?? '');
  if (found === null) return undefined;
  const [, hours, minutes, seconds, sign, zoneHours, zoneMinutes] = found;
  const local = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const zone = (Number(zoneHours) * 3600 + Number(zoneMinutes) * 60) * (sign === '-' ? -1 : 1);
  return modulo(local - zone);
}

function modulo(seconds: number): number {
  return ((seconds % DAY) + DAY) % DAY;
}
