const FORM = /^(\d\d)(\d\d)(\d\d)([+-]\d\d)(\d\d)$/;
const DAY = 86_400;

/**
 * Returns the seconds until a maintenance window, for example from `220000+0100` to `230000+0100`; 0 within it or
 * without.
 */
export function secondsUntilWindow(window: { begin?: string; end?: string } | undefined, now: Date): number {
  const [begin, end] = [secondOfDay(window?.begin), secondOfDay(window?.end)];
  if (begin === undefined || end === undefined) return 0;
  const time = Math.floor(now.getTime() / 1000) % DAY;
  // The window may pass midnight.
  return modulo(time - begin) < modulo(end - begin) ? 0 : modulo(begin - time);
}

function secondOfDay(text = ''): number | undefined {
  const time = FORM.test(text) ? Date.parse(text.replace(FORM, '1970-01-02T$1:$2:$3$4:$5')) : Number.NaN;
  return Number.isNaN(time) ? undefined : modulo(time / 1000);
}

function modulo(seconds: number): number {
  return ((seconds % DAY) + DAY) % DAY;
}
