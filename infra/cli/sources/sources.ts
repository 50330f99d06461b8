import type { FlagValue, Option, Terminal } from '../option.ts';
import { fromConfigFile } from './config-file.ts';
import { fromEnvironment, fromFallback } from './environment.ts';
import { keyOf, variableOf } from './names.ts';
import { type Origin, setOrigins } from './origins.ts';
import type { Value } from './value.ts';

/**
 * Returns the values of a command's options: a flag wins over an environment variable, that over the config file, and
 * that over the variables that gardenlet sets. `origins.ts` knows where each comes from.
 */
export async function fromAllSources(
  flags: Record<string, FlagValue>,
  options: Record<string, Option>,
  terminal: Terminal,
): Promise<Record<string, Value>> {
  const { environment } = terminal;
  const path = flags.config ?? environment.CONFIG?.trim();
  const file = typeof path === 'string' && path !== '' ? await fromConfigFile(path, terminal) : {};
  const values: Record<string, Value> = {};
  const origins: Record<string, Origin> = {};
  for (const [flag, option] of Object.entries(options)) {
    const key = keyOf(flag, option);
    const [fallback = '', byOthers] = fromFallback(option, environment) ?? [];
    const sources: [Origin, Value | undefined][] = [
      [{ type: 'flag', name: `--${flag}` }, flags[flag] as Value | undefined],
      [{ type: 'variable', name: variableOf(key) }, fromEnvironment(flag, option, environment)],
      [{ type: 'file', name: key, path: String(path) }, file[flag]],
      [{ type: 'variable', name: fallback }, byOthers],
    ];
    const [origin, value] = sources.find(([, candidate]) => candidate !== undefined) ?? [];
    if (origin === undefined || value === undefined) continue;
    values[flag] = value;
    origins[flag] = origin;
  }
  setOrigins(values, origins);
  return values;
}
