/** Where the value of an option comes from. */
export interface Origin {
  type: 'flag' | 'variable' | 'file';
  /** The option's name there. */
  name: string;
  /** The config file. */
  path?: string;
}

/** Kept beside the values, so that checks of plain values need not pass it along. */
const known = new WeakMap<object, Readonly<Record<string, Origin>>>();

/** Remembers where the values of options come from. */
export function setOrigins(values: object, origins: Readonly<Record<string, Origin>>): void {
  known.set(values, origins);
}

/** Returns an option's name as the operator wrote it: `--port`, `PORT`, or `port in config.yaml`. */
export function named(values: object, flag: string): string {
  const { type, name, path } = originOf(values, flag);
  return type === 'file' ? `${name} in ${path}` : name;
}

/** Returns an option with its value as the operator wrote it: `--port 80`, `PORT=80`, or `port: 80 in config.yaml`. */
export function quoted(values: object, flag: string, text: string): string {
  const { type, name, path } = originOf(values, flag);
  if (type === 'file') return `${name}: ${text} in ${path}`;
  return type === 'variable' ? `${name}=${text}` : `${name} ${text}`;
}

/**
 * Returns true for an option that the command line has. Only there is an option without effect a mistake: commands of one
 * deployment share a config file and an environment.
 */
export function isFlag(values: object, flag: string): boolean {
  return Object.hasOwn(values, flag) && originOf(values, flag).type === 'flag';
}

function originOf(values: object, flag: string): Origin {
  return known.get(values)?.[flag] ?? { type: 'flag', name: `--${flag}` };
}
