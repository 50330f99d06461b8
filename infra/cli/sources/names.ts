import type { Option } from '../option.ts';

/** Returns an option's key in the config file: `fluxDistribution` for `--flux-distribution`. */
export function keyOf(flag: string, { key }: Option): string {
  return key ?? flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the environment variable of a key: `FLUX_DISTRIBUTION` for `fluxDistribution`. */
export function variableOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
