import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../shared/kube/resource.ts';

/** The root of the repository. */
export const root = resolve(import.meta.dirname, '../..');
/** The npm scripts by name. */
export const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

const testFiles = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(integration|real)\/.*\.test\.ts$/.test(name))
  .map((name) => readFileSync(join(root, 'test', name), 'utf8'));
const inTests = (pattern: RegExp) => testFiles.flatMap((text) => [...text.matchAll(pattern)]);

/** Pages that a test follows command by command: it calls `followPage` with the page. */
const followed = new Set(inTests(/followPage\(\s*'([^']+)'/g).map(([, page = '']) => page));

/** The script of CI, with which every change begins: it installs, checks and tests. */
const ci = readFileSync(join(root, '.ci/run'), 'utf8').split('\n');

/** Whether CI runs a command, which may have arguments there. */
const isStepOfCi = (command: string) =>
  ci.some((line) => line.endsWith(` ${command}`) || line.includes(` ${command} -- `));

/** `npm test` runs these tests. */
const isTestRun = (command: string) => /^(npx vitest run|npm test --) /.test(command);

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
  'SECURITY.md',
  'MAINTAINERS.md',
  'CODE_OF_CONDUCT.md',
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

/** Every call for help inside a sentence. */
export const callsForHelp = documents.flatMap(({ text }) => {
  const sentences = text.replaceAll(/^ *```.*?^ *```$/gms, '');
  return [...sentences.matchAll(/`((?:npm|npx|node) [^`\n]* --help)`/g)].map(([, command = '']) => command);
});

/** Returns the only command of a page with this part, for the test that starts it. */
export function documented(path: string, part: string): string {
  const [found, ...more] = commands.filter((each) => each.path === path && each.command.includes(part));
  if (found === undefined || more.length > 0) throw new Error(`${path} has not exactly one command with ${part}.`);
  return found.command;
}

/** Commands that a test of their own starts: it calls `documented` with the page and a part of the command. */
const startedAlone = new Set(
  inTests(/documented\(\s*(?:'([^']+)'|\w+),\s*'([^']+)'/g).map(([, page, part = '']) =>
    page === undefined ? part : documented(page, part),
  ),
);

/** Returns whether something else than docs.test.ts runs a command of a page. */
export const isRunElsewhere = ({ path, command }: { path: string; command: string }) =>
  followed.has(path) || startedAlone.has(command) || isStepOfCi(command) || isTestRun(command);

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
export const example = (path: string, kind: string) => yamlOf(path, `a ${kind}`, (object) => object.kind === kind);

/** Every object in the YAML blocks of a page. */
export const examples = (path: string): KubeObject[] =>
  (documents.find((document) => document.path === path)?.fences ?? [])
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => parse(text));

/** The first YAML block of a page with this key. */
export const exampleWith = (path: string, key: string) => yamlOf(path, key, (object) => object[key] !== undefined);

function yamlOf(path: string, what: string, isWanted: (object: Record<string, unknown>) => boolean): string {
  const { fences = [] } = documents.find((document) => document.path === path) ?? {};
  const found = fences.find(({ language, text }) => language === 'yaml' && isWanted(parse(text) ?? {}));
  if (found === undefined) throw new Error(`${path} has no example of ${what}.`);
  return found.text;
}
