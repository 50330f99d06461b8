import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failures } from '../../functions/readiness/explain/explain.ts';
import { commands, documents, followed, inlineCommands, isTestRun, root, scripts } from './documents.ts';
import { metricsOfCode } from './metric-names.ts';

it('explains every reason of a condition', () => {
  const text = readFileSync(join(root, 'docs/running.md'), 'utf8');
  const reasons = Object.values(failures)
    .flat()
    .map(({ reason }) => reason);
  expect([...new Set(reasons)].filter((reason) => !text.includes(`\`${reason}\``))).toEqual([]);
});

describe('the documents', () => {
  it('contain commands', () => {
    expect(commands.length).toBeGreaterThan(8);
  });

  it('mark blocks of commands as sh', () => {
    const others = documents.flatMap(({ path, fences }) =>
      fences
        .filter(({ language, text }) => language !== 'sh' && /^(\$ |npm |npx |node |kubectl )/m.test(text))
        .map(({ text }) => ({ path, text })),
    );
    expect(others).toEqual([]);
    expect([...new Set(documents.flatMap(({ fences }) => fences.map(({ language }) => language)))].sort()).toEqual([
      'sh',
      'yaml',
    ]);
  });

  it('name npm scripts that exist', () => {
    const named = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, name = '']) => ({ path, name })),
    );
    expect(named.filter(({ name }) => scripts[name] === undefined)).toEqual([]);
  });

  it('name every metric of the code', () => {
    const { text = '' } = documents.find(({ path }) => path === 'docs/running.md') ?? {};
    const documented = new Set([...text.matchAll(/^\| `(shoot_flux_\w+)`/gm)].map(([, name]) => name));
    const used = metricsOfCode().map(({ name }) => name);
    expect(documented).toEqual(new Set(used));
  });

  const testRuns = [...commands, ...inlineCommands].map(({ command }) => command).filter(isTestRun);

  it.each([...new Set(testRuns)])('name tests that exist: %s', (command) => {
    const [, places = '', title = ''] =
      /^(?:npx vitest run|npm test --) ([^"]+?)(?: -u)?(?: -t "([^"]+)")?$/.exec(command) ?? [];
    const files = places.split(' ').map(testsIn);
    expect(files.filter((found) => found.length === 0)).toEqual([]);
    expect(places).not.toBe('');
    const text = files.flat().map((file) => readFileSync(join(root, file), 'utf8'));
    expect(text.some((source) => title === '' || source.includes(`it('${title}'`))).toBe(true);
  });

  it('have no command in a sentence that no test runs', () => {
    const inBlocks = commands.map(({ command }) => command);
    const isKnown = (command: string) => {
      const line = command.replace(/^([A-Z_]+=\S+ )+/, '').replace(/ …$/, '');
      const [, script = ''] = /^npm run (?:--silent )?([\w:-]+)(?: --help| -- .*--help| --)?$/.exec(line) ?? [];
      // Both need what no test has: credentials, and minutes.
      if (line.endsWith(' login') || line.startsWith('npm run bench -- ')) return true;
      return isTestRun(line) || scripts[script] !== undefined || inBlocks.some((known) => known.startsWith(line));
    };
    expect(inlineCommands.filter(({ command }) => !isKnown(command))).toEqual([]);
  });

  it('install by commands of the pages that the README links', () => {
    const { text = '' } = documents.find(({ path }) => path === 'README.md') ?? {};
    const rows = [...text.matchAll(/^\| \[[^\]]+\]\((docs\/install-[^)]+)\)[^|]* \| `([^`]+)` \|$/gm)];
    const pages = Object.keys(followed).filter((page) => /install-/.test(page));
    expect(rows.map(([, page]) => page).sort()).toEqual(pages.sort());
    for (const [, page, command] of rows) expect(commands).toContainEqual({ path: page, command });
  });

  it('that tests follow have commands', () => {
    expect(Object.keys(followed)).not.toEqual([]);
    expect(Object.keys(followed).filter((page) => commands.every(({ path }) => path !== page))).toEqual([]);
  });
});

/** The test files in a folder or at a path. */
function testsIn(place: string): string[] {
  const path = join(root, place);
  // vitest also takes a part of a path.
  if (!existsSync(path)) return allTests().filter((file) => file.includes(place));
  const found = statSync(path).isFile()
    ? [place]
    : readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(place, name));
  return found.filter((file) => file.endsWith('.test.ts'));
}

function allTests(): string[] {
  const folders = ['events', 'functions', 'infra', 'shared', 'test'];
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith('.test.ts')),
  );
}
