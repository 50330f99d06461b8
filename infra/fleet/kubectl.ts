/** A namespace, and the flags with which kubectl reaches its cluster. */
export interface Place {
  namespace: string;
  flags: readonly string[];
}

/** Returns a command line that can be pasted. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w./:@=,{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Returns a command line of kubectl. */
export function kubectl(args: readonly string[], { namespace, flags }: Partial<Place>): string {
  return commandLine([
    'kubectl',
    ...args,
    ...(namespace === undefined ? [] : ['--namespace', namespace]),
    ...(flags ?? []),
  ]);
}
