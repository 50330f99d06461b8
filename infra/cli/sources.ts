import { nearest } from '../../shared/config/nearest.ts';
import { asObject } from '../../shared/config/values.ts';
import { type FlagValue, type Option, UsageError, type Variables } from './option.ts';
import { serviceOptions } from './options.ts';

/** How the operator has written an option: its name, what is between name and value, and what follows both. */
type Origin = readonly [name: string, sign: ' ' | '=' | ': ', place?: string];

/** Kept beside the values, so that checks of plain values need not pass it along. */
const known = new WeakMap<object, Readonly<Record<string, Origin>>>();

/** Returns an option's name as the operator wrote it: `--port`, `PORT`, or `port in config.yaml`. */
export function named(values: object, flag: string): string {
  const [name, , place = ''] = originOf(values, flag);
  return `${name}${place}`;
}

/** Returns an option with its value as the operator wrote it: `--port 80`, `PORT=80`, or `port: 80 in config.yaml`. */
export function quoted(values: object, flag: string, text: string): string {
  const [name, sign, place = ''] = originOf(values, flag);
  return `${name}${sign}${text}${place}`;
}

/** Returns true for an option of the command line; elsewhere, one without effect may be for another command. */
export function isFlag(values: object, flag: string): boolean {
  return Object.hasOwn(values, flag) && originOf(values, flag)[1] === ' ';
}

function originOf(values: object, flag: string): Origin {
  return known.get(values)?.[flag] ?? [`--${flag}`, ' '];
}

/** The value of an option, from whichever source. */
type Value = string | number | boolean | string[] | object;

interface Sources {
  flags?: Record<string, FlagValue>;
  environment: Variables;
  /** Reads the config file. */
  read(path: string): Promise<unknown>;
}

/** Returns the values of options: a flag wins over the environment, that over the file, and that over gardenlet. */
export async function fromAllSources(
  options: Record<string, Option>,
  { flags = {}, environment, read }: Sources,
  inFile?: Record<string, Option>,
): Promise<Record<string, Value>> {
  const path = flags.config ?? environment.CONFIG?.trim();
  const file = typeof path === 'string' && path !== '' ? fromConfigFile(path, await read(path), inFile) : {};
  const values: Record<string, Value> = {};
  const origins: Record<string, Origin> = {};
  for (const [flag, option] of Object.entries(options)) {
    const key = keyOf(flag, option);
    const [fallback = '', byOthers] = fromFallback(option, environment) ?? [];
    const sources: [Origin, Value | undefined][] = [
      [[`--${flag}`, ' '], flags[flag] as Value | undefined],
      [[variableOf(key), '='], fromEnvironment(flag, option, environment)],
      [[key, ': ', ` in ${path}`], file[flag]],
      [[fallback, '='], byOthers],
    ];
    const [origin, value] = sources.find(([, candidate]) => candidate !== undefined) ?? [];
    if (origin === undefined || value === undefined) continue;
    values[flag] = value;
    origins[flag] = origin;
  }
  known.set(values, origins);
  for (const [flag, value] of Object.entries(values)) values[flag] = checked(values, flag, value, options[flag]);
  return values;
}

/**
 * Returns the values of flags, as the options say.
 * @param written says whether an option was written as `-o` or `--output`
 * @throws UsageError for a value that an option does not have
 */
export function fromFlags(
  options: Record<string, Option>,
  flags: Record<string, FlagValue>,
  written: readonly { name: string; rawName: string }[],
): Record<string, Value> {
  const values = { ...flags } as Record<string, Value>;
  known.set(values, Object.fromEntries(written.map(({ name, rawName }) => [name, [rawName, ' ']])));
  for (const [flag, value] of Object.entries(values)) values[flag] = checked(values, flag, value, options[flag]);
  return values;
}

/** Returns the value of an option, as a number where it is one. @throws UsageError */
function checked(values: object, flag: string, value: Value, option: Option | undefined): Value {
  const { words, range, problem } = option ?? {};
  if (Array.isArray(value)) {
    const wrong = value.map((entry) => problem?.(entry)).find((found) => found !== undefined);
    if (wrong !== undefined) throw new UsageError(`${named(values, flag)} ${wrong}`);
    return value;
  }
  if (typeof value !== 'string') return value;
  const number = Number(value);
  const isInRange = range !== undefined && value !== '' && number >= range[0] && number <= range[1];
  if (isInRange && Number.isInteger(number)) return number;
  if (words?.includes(value)) return value;
  const wrong = problem?.(value);
  if (wrong !== undefined) throw new UsageError(`${quoted(values, flag, value)} ${wrong}`);
  return value;
}

/** Returns an option's key in the config file: `fluxDistribution` for `--flux-distribution`. */
export function keyOf(flag: string, { key }: Option): string {
  return key ?? flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the environment variable of a key: `FLUX_DISTRIBUTION` for `fluxDistribution`. */
export function variableOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Returns the value of an option's environment variable. An empty one counts as absent. @throws UsageError */
function fromEnvironment(flag: string, option: Option, variables: Variables): Value | undefined {
  const variable = variableOf(keyOf(flag, option));
  const text = variables[variable]?.trim();
  if (!text || option.type === 'nested') return undefined;
  if (option.type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new UsageError(`${variable}=${text} is not true or false`);
  }
  return option.multiple === true ? entriesOf(text) : text;
}

/** Returns the first variable with a value among those that others set for an option, and the value of the option. */
function fromFallback({ fallback, multiple }: Option, variables: Variables): [name: string, Value] | undefined {
  for (const [name, entryOf] of Object.entries(fallback?.variables ?? {})) {
    const text = variables[name]?.trim();
    if (text) return [name, multiple === true ? [entryOf(text, variables)] : entryOf(text, variables)];
  }
  return undefined;
}

function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}

/**
 * Returns the values of a config file by flag. It may hold options of every command that runs until a signal, because
 * the commands of one deployment share a file.
 * @throws UsageError for an unknown key or a value of another type
 */
export function fromConfigFile(path: string, document: unknown, options = serviceOptions): Record<string, Value> {
  const content = asObject(document);
  if (content === undefined) throw new UsageError(`${path} is not an object with options as its keys`);
  const flags = new Map(Object.entries(options).map(([flag, option]) => [keyOf(flag, option), flag]));
  const entries = Object.entries(content).map(([key, given]): [string, Value | undefined] => {
    const flag = flags.get(key);
    const option = flag === undefined ? undefined : options[flag];
    if (flag === undefined || option === undefined) throw unknownKey(path, key, [...flags.keys()]);
    const value = readValue(option, given);
    if (value === undefined && given !== null) throw new UsageError(`${key} in ${path} is not ${expected(option)}`);
    return [flag, value];
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

function readValue(option: Option, given: unknown): Value | undefined {
  const object = asObject(given);
  if (option.type === 'nested') return object;
  if (option.type === 'boolean') return typeof given === 'boolean' ? given : undefined;
  const text = textOf(given);
  if (option.multiple !== true) return text;
  if (text !== undefined) return entriesOf(text);
  const pair = ([name, entry]: [string, unknown]) => {
    const value = textOf(entry);
    return value && `${name}=${value}`;
  };
  const ofMap = option.map === true && object !== undefined ? Object.entries(object).map(pair) : [undefined];
  const texts = Array.isArray(given) ? given.map(textOf) : ofMap;
  return texts.every((entry) => entry !== undefined) ? texts : undefined;
}

function textOf(given: unknown): string | undefined {
  if (typeof given === 'number') return String(given);
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
}

function expected({ type, multiple, map, value }: Option): string {
  if (type === 'nested') return 'an object';
  if (type === 'boolean') return 'true or false';
  if (map === true) return `an object with entries ${value?.replace('=', ': ')}`;
  return multiple === true ? 'a list of texts' : 'a text or number';
}

function unknownKey(path: string, key: string, known: string[]): UsageError {
  const near = nearest(key, known);
  const all = known.length > 4 ? 'docs/options.md lists all keys' : `use one of ${known.join(', ')}`;
  const remedy = near === undefined ? all : `did you mean "${near}"?`;
  return new UsageError(`${path} has an unknown key "${key}"; ${remedy}`);
}
