/** Where a command acts: the flags with which kubectl reaches the cluster, and a namespace if there is one. */
export interface At {
  flags: readonly string[];
  namespace?: string;
}

/** Returns a kubectl command that can be pasted. */
export function kubectl(args: readonly string[], { flags, namespace }: At): string {
  const words = ['kubectl', ...args, ...(namespace === undefined ? [] : ['--namespace', namespace]), ...flags];
  return words.map((word) => (/^[\w./:@=,{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
