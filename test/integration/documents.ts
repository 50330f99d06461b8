import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

/** The root of the repository. */
export const root = resolve(import.meta.dirname, '../..');
/** The npm scripts by name. */
export const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

/** Pages that a test follows command by command, and that test: it calls `followPage` with the page. */
export const followed: Record<string, string> = Object.fromEntries(
  testFiles().flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/followPage\(\s*'([^']+)'/g)].map(([, page = '']) => [
      page,
      file,
    ]),
  ),
);

/** Commands that a test of their own starts, and that test: it calls `documented` with the page and the command. */
const startedAlone = new Set(
  testFiles().flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/documented\(\s*'[^']+',\s*'([^']+)'/g)].map(
      ([, command]) => command,
    ),
  ),
);

/** The script of CI, with which every change begins: it installs, checks and tests. */
const ci = readFileSync(join(root, '.ci/run'), 'utf8').split('\n');

/** Whether CI runs a command, which may have arguments there. */
const isStepOfCi = (command: string) =>
  ci.some((line) => line.endsWith(` ${command}`) || line.includes(` ${command} -- `));

/** Runs of tests: `npm test` runs these tests, so only their names can be wrong. */
export const isTestRun = (command: string) => /^(npx vitest run|npm test --) /.test(command);

/** Returns whether something else than docs.test.ts runs a command of a page. */
export const isRunElsewhere = ({ path, command }: { path: string; command: string }) =>
  followed[path] !== undefined || startedAlone.has(command) || isStepOfCi(command) || isTestRun(command);

export interface Fence {
  language: string;
  text: string;
  /** The heading above it. */
  section: string;
}

interface Document {
  path: string;
  text: string;
  fences: Fence[];
}

/** Every page of the documentation. */
export const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...markdownIn('docs'),
  ...markdownIn('charts'),
].map(readDocument);
/** Every command of a block marked as sh. */
export const commands = documents.flatMap(({ path, fences }) =>
  fences
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => commandsIn(text))
    .flatMap((line) => line.split(' && '))
    .map((command) => ({ path, command })),
);

/** A program, with something behind it. */
const INLINE = /^([A-Z_]+=\S+ )*(npm|npx|node|kubectl|helm|openssl|aws|crane|buildah|sed) \S/;

/** Every command inside a sentence: a program with something behind it. */
export const inlineCommands = documents.flatMap(({ path, text }) => {
  const sentences = text.replaceAll(/^ *```.*?^ *```$/gms, '');
  const found = [...sentences.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return found.filter((code) => INLINE.test(code)).map((command) => ({ path, command }));
});

/** Returns a command of a page, for the test that starts it. */
export function documented(path: string, command: string): string {
  if (commands.some((found) => found.path === path && found.command === command)) return command;
  throw new Error(`${path} has no command ${command}.`);
}

function testFiles(): string[] {
  const names = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /^(integration|real)\/.*\.test\.ts$/.test(name)).map((name) => join('test', name));
}

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

function readDocument(path: string): Document {
  const text = readFileSync(join(root, path), 'utf8');
  const fences: Fence[] = [];
  let section = '';
  for (const [, heading, language = '', body = ''] of text.matchAll(/^#+ (.+)$|^ *```(\S*)\n((?:.*\n)*?) *```$/gm)) {
    if (heading === undefined) fences.push({ language, text: body, section });
    else section = heading;
  }
  return { path, text, fences };
}

/** The commands of a block, without comments; a backslash at the end of a line continues it. */
export function commandsIn(text: string): string[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');
}

/** The command that npm would start, without its environment, so that a signal reaches it. */
export function expanded(command: string): string {
  const [, name = '', args = ''] = /^npm run (\S+)(?: -- (.*))?$/.exec(command) ?? [];
  const script = scripts[name]?.replace(/^(?:[A-Z_]+=\S+ )+/, '');
  return script === undefined ? command : `${script} ${args}`.trim();
}

/** The first YAML block of a page with an object of this kind. */
export function example(path: string, kind: string): string {
  const { fences = [] } = documents.find((document) => document.path === path) ?? {};
  const found = fences.find(({ language, text }) => language === 'yaml' && parse(text)?.kind === kind);
  if (found === undefined) throw new Error(`${path} has no example of a ${kind}.`);
  return found.text;
}

/** The first YAML block of a page with this key. */
export function exampleWith(path: string, key: string): string {
  const { fences = [] } = documents.find((document) => document.path === path) ?? {};
  const found = fences.find(({ language, text }) => language === 'yaml' && parse(text)?.[key] !== undefined);
  if (found === undefined) throw new Error(`${path} has no example with ${key}.`);
  return found.text;
}
