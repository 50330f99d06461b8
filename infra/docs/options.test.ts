import { expect, it } from 'vitest';
import { serviceCommands } from '../cli/cli.ts';
import { serviceOptions } from '../cli/options.ts';
import { keyOf, variableOf } from '../cli/sources.ts';

const commands = await serviceCommands();

it('an option has the same name and form in every command and in the config file', () => {
  const form = (flag: string, options: typeof serviceOptions) => {
    const option = options[flag];
    if (option === undefined) return `--${flag} is missing`;
    const { type, multiple, map, fallback } = option;
    return { type, multiple, map, key: keyOf(flag, option), fallback: Object.keys(fallback?.variables ?? {}) };
  };
  for (const { definition } of commands) {
    for (const flag of Object.keys(definition.options)) {
      if (flag === 'help' || flag === 'config') continue;
      expect(form(flag, serviceOptions), `${definition.name} --${flag}`).toEqual(form(flag, definition.options));
    }
  }
});

it('no two options share a key or a variable', () => {
  const keys = Object.entries(serviceOptions).map(([flag, option]) => keyOf(flag, option));
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(keys.map(variableOf)).size).toBe(keys.length);
  expect(variableOf('webhookTokenSha256')).toBe('WEBHOOK_TOKEN_SHA256');
});
