import type { Command } from '../cli/command.ts';
import type { Option } from '../cli/option.ts';
import { keyOf, variableOf } from '../cli/sources.ts';
import { cell } from './table.ts';

/** Returns a section for each command that runs until a signal, with a table of its options. */
export function optionTables(commands: Command[]): string {
  return commands.map((command) => section(command, commands)).join('\n');
}

/** The options of a command, without those that an earlier command has in the same words. */
function section({ definition }: Command, all: Command[]): string {
  const earlier = all.slice(
    0,
    all.findIndex((command) => command.definition === definition),
  );
  const own = Object.entries(definition.options).filter(([flag]) => flag !== 'help' && flag !== 'config');
  const repeated = own.filter(([flag, option]) =>
    earlier.some((command) => command.definition.options[flag] === option),
  );
  const rows = own.filter((entry) => !repeated.includes(entry)).map(([flag, option]) => line(flag, option));
  const also = repeated.map(([flag, { type }]) => `\`${type === 'nested' ? '' : '--'}${flag}\``).join(', ');
  const parts = [
    `## \`${definition.name}\``,
    definition.summary,
    rows.length > 0
      ? ['| flag | variable | key | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
      : '',
    also === '' ? '' : `As above: ${also}.`,
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function line(flag: string, option: Option): string {
  const { value, required, fallback, type } = option;
  const key = keyOf(flag, option);
  const flagText = type === 'nested' ? '' : `\`--${flag}${value === undefined ? '' : ` ${cell(value)}`}\``;
  const variable = type === 'nested' ? '' : `\`${variableOf(key)}\``;
  const usual = option.default ?? (required === true ? '**required**' : type === 'boolean' ? 'false' : '');
  const others = Object.keys(fallback?.variables ?? {}).map((name) => `\`${name}\``);
  const set = fallback === undefined ? '' : `; else ${others.join(' or ')}, which ${fallback.setBy} sets`;
  return `| ${flagText} | ${variable}${set} | \`${key}\` | ${usual} | ${cell(option.description)} |`;
}
