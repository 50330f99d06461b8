/** Returns the host of a Service. The kubelet fills in the namespace; the final dot avoids search domains and proxies. */
export function serviceHost(service: string, clusterDomain: string): string {
  return `${service}.$(RUNTIME_NAMESPACE).svc.${clusterDomain}.`;
}

/** Flags of a controller; `undefined` keeps the release's value. */
export type ControllerFlags = Record<string, string | undefined>;

/**
 * Sets flags by name, because their positions differ between releases. Existing flags keep their position, so that the
 * order is the release's own; missing ones are appended.
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
