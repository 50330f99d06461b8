import { nearest } from '../../../shared/config/nearest.ts';
import { type Option, type Terminal, UsageError } from '../option.ts';
import { serviceOptions } from '../options.ts';
import { readDocument } from '../read-file.ts';
import { entriesOf } from './environment.ts';
import { keyOf } from './names.ts';
import type { Value } from './value.ts';

/**
 * Returns the values of a config file by flag. It may hold options of every command that runs until a signal, because
 * the commands of one deployment share a file.
 * @throws UsageError for an unknown key or a value of another type, ShootFluxError when the file cannot be read
 */
export async function fromConfigFile(path: string, terminal: Terminal): Promise<Record<string, Value>> {
  const content = await readDocument(path, terminal);
  if (content === null) return {};
  if (!isObject(content)) throw new UsageError(`${path} is not an object with options as its keys`);
  const flags = new Map(Object.entries(serviceOptions).map(([flag, option]) => [keyOf(flag, option), flag]));
  const entries = Object.entries(content).map(([key, given]): [string, Value | undefined] => {
    const flag = flags.get(key);
    const option = flag === undefined ? undefined : serviceOptions[flag];
    if (flag === undefined || option === undefined) throw unknownKey(path, key, [...flags.keys()]);
    const value = readValue(option, given);
    if (value === undefined && given !== null) throw new UsageError(`${key} in ${path} is not ${expected(option)}`);
    return [flag, value];
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, Value] => entry[1] !== undefined));
}

function readValue(option: Option, given: unknown): Value | undefined {
  if (option.type === 'nested') return isObject(given) ? given : undefined;
  if (option.type === 'boolean') return typeof given === 'boolean' ? given : undefined;
  if (option.map === true && isObject(given)) {
    const entries = Object.entries(given).map(([name, entry]) => [name, textOf(entry)] as const);
    return allDefined(entries.map(([name, text]) => (text === undefined ? undefined : `${name}=${text}`)));
  }
  const text = textOf(given);
  if (option.multiple !== true) return text;
  if (Array.isArray(given)) return allDefined(given.map(textOf));
  return text === undefined ? undefined : entriesOf(text);
}

function textOf(given: unknown): string | undefined {
  if (typeof given === 'number') return String(given);
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : undefined;
}

function allDefined(texts: (string | undefined)[]): string[] | undefined {
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

function expected({ type, multiple, map, value }: Option): string {
  if (type === 'nested') return 'an object';
  if (type === 'boolean') return 'true or false';
  if (map === true) return `an object with entries ${value?.replace('=', ': ')}`;
  return multiple === true ? 'a list of texts' : 'a text or number';
}

function unknownKey(path: string, key: string, known: string[]): UsageError {
  const near = nearest(key, known);
  const remedy = near === undefined ? 'docs/options.md lists all keys' : `did you mean "${near}"?`;
  return new UsageError(`${path} has an unknown key "${key}"; ${remedy}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
