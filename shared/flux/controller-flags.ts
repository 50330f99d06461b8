/** What `flux install` sets on a controller; `undefined` leaves a flag as the release has it. */
export interface ControllerFlags {
  'events-addr'?: string | undefined;
  'watch-all-namespaces': string;
  'log-level': string;
  'storage-adv-addr'?: string | undefined;
}

/**
 * Sets flags where they stand, so that the order of the arguments is the release's own; a flag that is missing comes
 * last. By name, because a position means another flag in another release.
 */
export function withFlags(args: readonly string[], flags: ControllerFlags): string[] {
  const result = [...args];
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const at = result.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
    result.splice(at === -1 ? result.length : at, 1, `--${name}=${value}`);
  }
  return result;
}
