/** The flag of the resource-manager that adds a namespace of the shoot to those it may write into; repeatable. */
export const FLAG = '--extra-target-namespace';

/** The namespaces that a command line names, in the forms `--flag=value`, `--flag value` and with commas between. */
export function namespacesIn(commandLine: readonly string[]): string[] {
  const flags = commandLine.slice(0, endOfFlags(commandLine));
  const values = flags.flatMap((argument, index) => {
    if (argument.startsWith(`${FLAG}=`)) return [argument.slice(FLAG.length + 1)];
    return argument === FLAG ? [flags[index + 1] ?? ''] : [];
  });
  return values.flatMap((value) => value.split(',')).filter((namespace) => namespace !== '');
}

/** Where the flags end: before a lone `--`, behind which everything is a plain argument. */
export function endOfFlags(commandLine: readonly string[]): number {
  const end = commandLine.indexOf('--');
  return end === -1 ? commandLine.length : end;
}
