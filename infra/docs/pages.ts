import { readdir, readFile } from 'node:fs/promises';
import { addonSchema } from '../../shared/config/addons.ts';
import { pullSecretSchema } from '../../shared/config/defaults.ts';
import { fluxConfigSchema } from '../../shared/config/flux-config.ts';
import { fluxSchema } from '../../shared/config/flux-options.ts';
import { type Limit, limits, limitText } from '../../shared/config/limits.ts';
import { policySchema } from '../../shared/config/policy/policy.ts';
import {
  additionalSecretSchema,
  kustomizationSchema,
  listedAddonSchema,
  providerConfigSchema,
  sourceSchema,
} from '../../shared/config/provider-config-schema.ts';
import { landscapeRolloutSchema, rolloutSchema } from '../../shared/config/rollout.ts';
import {
  fluxKinds,
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  sourceTemplateSchema,
} from '../../shared/config/templates.ts';
import { SHOOT_FACTS } from '../../shared/config/variables.ts';
import { serviceCommands } from '../cli/cli.ts';
import type { Command } from '../cli/command.ts';
import type { Option } from '../cli/option.ts';
import { keyOf, variableOf } from '../cli/sources.ts';
import { cell, ownAndSharedKeys, table } from './table.ts';

export const DOCS = new URL('../../docs/', import.meta.url);

/** What the code says on the pages, by page and by the name between the markers. */
const generated: Record<string, Record<string, () => string | Promise<string>>> = {
  'configuration.md': {
    'flux-config': () => ownAndSharedKeys(fluxConfigSchema, fluxSchema).own,
    'shared-keys': () => quoted(ownAndSharedKeys(fluxConfigSchema, fluxSchema).shared),
    rollout: () => table(rolloutSchema),
    facts: () => quoted(SHOOT_FACTS),
    'provider-config': () => ownAndSharedKeys(providerConfigSchema, fluxConfigSchema).own,
    'keys-of-both': () => quoted(ownAndSharedKeys(providerConfigSchema, fluxConfigSchema).shared),
    flux: () => table(fluxSchema),
    source: () => table(sourceSchema),
    'source-template': () => table(...SOURCE_KINDS.map((kind) => sourceTemplateSchema(kind))),
    kustomization: () => table(kustomizationSchema),
    'kustomization-template': () => table(kustomizationTemplateSchema),
    kinds: () => quoted(Object.keys(fluxKinds)),
    'additional-secret-resources': () => table(additionalSecretSchema),
    addons: () => table(listedAddonSchema),
    limits: limitTable,
  },
  'policy.md': {
    'pull-secret': () => table(pullSecretSchema),
    policy: () => table(policySchema),
    rollout: () => table(landscapeRolloutSchema),
  },
  'landscape.md': { addon: () => table(addonSchema) },
  'options.md': { commands: optionTables },
  'decisions/README.md': { decisions: decisionTable },
};

/** A generated part of a page: a block on lines of its own, or a list in a sentence. */
const PART = /(<!-- generated: ([\w-]+) -->\n?).*?(<!-- end -->)/gs;

/** Returns the pages, by path below `docs/`, with their generated parts. @throws Error for a part that is missing */
export async function pages(): Promise<Record<string, string>> {
  const filled = Object.entries(generated).map(async ([path, parts]): Promise<[string, string]> => {
    const texts = new Map<string, string>();
    for (const [name, part] of Object.entries(parts)) texts.set(name, await part());
    const page = await readFile(new URL(path, DOCS), 'utf8');
    const names = [...page.matchAll(PART)].map(([, , name = '']) => name);
    if (names.toSorted().join() !== Object.keys(parts).toSorted().join())
      throw new Error(`docs/${path} has the generated parts ${names}, and not ${Object.keys(parts)}.`);
    return [path, page.replaceAll(PART, (_, begin, name, end) => `${begin}${texts.get(name)}${end}`)];
  });
  return Object.fromEntries(await Promise.all(filled));
}

const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

/** One line for each limit, from the table that the checks use. */
function limitTable(): string {
  const all: Limit[] = Object.values(limits);
  const lines = all.map((limit) => `| ${limit.of} | ${limitText(limit)} | ${limit.why} |`);
  return ['| what | at most | why |', '|---|---|---|', ...lines, ''].join('\n');
}

/** One line for each record. @throws Error where a record has no number, status or date */
async function decisionTable(): Promise<string> {
  const folder = new URL('decisions/', DOCS);
  const files = (await readdir(folder)).filter((name) => /^\d{4}-.*\.md$/.test(name)).sort();
  const rows = files.map(async (file) => {
    const record = await readFile(new URL(file, folder), 'utf8');
    const [, number, title, status, date] = /^# (\d+)\. (.+)\n\nStatus: (.+) · (\d{4}-\d\d-\d\d)\n/.exec(record) ?? [];
    if (Number(number) === Number(file.slice(0, 4)))
      return `| [${number}](${file}) | ${title} | ${status} | ${date} |\n`;
    throw new Error(
      `docs/decisions/${file} has to begin with "# N. Title", an empty line and "Status: accepted · YYYY-MM-DD".`,
    );
  });
  return `| number | decision | status | date |\n|---|---|---|---|\n${(await Promise.all(rows)).join('')}`;
}

/** Returns a section for each command that runs until a signal, with a table of its options. */
async function optionTables(): Promise<string> {
  const commands = await serviceCommands();
  return commands.map((command) => section(command, commands)).join('\n');
}

/** The options of a command, without those that an earlier command has in the same words. */
function section({ definition }: Command, all: Command[]): string {
  const index = all.findIndex((command) => command.definition === definition);
  const earlier = all.slice(0, index);
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
  const meaning = cell(option.description);
  return `| ${flagText} | ${variable}${set} | \`${key}\` | ${usual} | ${meaning} |`;
}
