/** A namespace, and the flags with which kubectl reaches its cluster. */
export interface Place {
  namespace: string;
  flags: readonly string[];
}

/** Returns a kubectl command that can be pasted. */
export function kubectl(args: readonly string[], { namespace, flags }: Partial<Place>): string {
  const words = ['kubectl', ...args, ...(namespace === undefined ? [] : ['--namespace', namespace]), ...(flags ?? [])];
  return words.map((word) => (/^[\w./:@=,{}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
