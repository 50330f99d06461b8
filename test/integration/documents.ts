import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

/** The root of the repository. */
export const root = resolve(import.meta.dirname, '../..');
/** The npm scripts by name. */
export const scripts: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;

/** Commands that take too long here, and the file that runs them instead. */
export const elsewhere: Record<string, string> = {
  'npm ci': '.ci/run',
  'npm test': '.ci/run',
  'npm run check': '.ci/run',
  'npm run demo': 'test/integration/demo.test.ts',
};

/** Pages whose commands need real tools, and the file that follows each of them from an empty folder. */
export const followed: Record<string, string> = {
  'docs/install-aws.md': 'test/real/install/aws.test.ts',
  'docs/install-deployment.md': 'test/real/install/install-deployment.test.ts',
  'docs/install-knative.md': 'test/real/install/install-knative.test.ts',
  'docs/image.md': 'test/real/install/image.test.ts',
  'docs/release.md': 'test/real/install/release.test.ts',
};

/** Runs of tests: `npm test` runs these tests, so only their names can be wrong. */
export const isTestRun = (command: string) => command.startsWith('npx vitest run ');

interface Fence {
  language: string;
  text: string;
}

interface Document {
  path: string;
  text: string;
  fences: Fence[];
}

/** Every page of the documentation. */
export const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...markdownIn('docs')].map(readDocument);
/** Every command of a block marked as sh. */
export const commands = documents.flatMap(({ path, fences }) =>
  fences
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => commandsIn(text))
    .map((command) => ({ path, command })),
);

function markdownIn(folder: string): string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name));
}

function readDocument(path: string): Document {
  const text = readFileSync(join(root, path), 'utf8');
  const fences = [...text.matchAll(/^ *```(\S*)\n(.*?)^ *```$/gms)].map(([, language = '', body = '']) => ({
    language,
    text: body,
  }));
  return { path, text, fences };
}

/** The commands of a block, without comments; a backslash at the end of a line continues it. */
function commandsIn(text: string): string[] {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');
}

/** The command that npm would start, without its environment, so that a signal reaches it. */
export function expanded(command: string): string {
  const [, name = '', args = ''] = /^npm run (\S+)(?: -- (.*))?$/.exec(command) ?? [];
  const script = scripts[name]?.replace(/^(?:[A-Z_]+=\S+ )+/, '');
  return script === undefined ? command : `${script} ${args}`;
}

/** The first YAML block of a page with an object of this kind. */
export function example(path: string, kind: string): string {
  const { fences = [] } = documents.find((document) => document.path === path) ?? {};
  const found = fences.find(({ language, text }) => language === 'yaml' && parse(text)?.kind === kind);
  if (found === undefined) throw new Error(`${path} has no example of a ${kind}.`);
  return found.text;
}
