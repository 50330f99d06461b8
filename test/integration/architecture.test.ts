import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const landscape: { exports: Record<string, string> } = JSON.parse(
  readFileSync(join(root, 'test/landscape/package.json'), 'utf8'),
);

/** The rooms that each room may import; functions may not import each other. */
const arrows: Record<string, string[]> = {
  shared: ['shared'],
  functions: ['functions', 'shared'],
  events: ['events', 'shared'],
  infra: ['infra', 'functions', 'events', 'shared'],
  test: ['test', 'infra', 'functions', 'events', 'shared'],
};

interface Import {
  from: string;
  to: string;
}

const isTest = (file: string) => /\.(test|fixtures|examples)\.ts$|(^|\/)testing\.ts$/.test(file);

function sources(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules/'))
    .map((file) => join(room, file));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\(|import)\s*['"]((?:\.{1,2}\/|@shoot-flux\/)[^'"]+)['"]/g)];
  return specifiers.map(([, specifier = '']) => ({ from: file, to: fileOf(specifier, file) }));
}

/** Resolves a relative import, or one of the landscape package. */
function fileOf(specifier: string, importer: string): string {
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(importer), specifier));
  const target = landscape.exports[specifier.replace('@shoot-flux/landscape', '.')];
  if (target === undefined) throw new Error(`${importer} imports ${specifier}, which no package exports`);
  return join('test/landscape', target);
}

const all = Object.keys(arrows).flatMap(sources);
const allImports = all.flatMap(importsOf);
const shipped = all.filter((file) => !isTest(file) && !file.startsWith('test/'));
/** Without tests beside the sources: they may import the landscape. */
const imports = allImports.filter(({ from }) => !isTest(from) || from.startsWith('test/'));

/** Returns the groups of files that import each other, directly or not (Tarjan's algorithm). */
function circlesOf(arrows: Import[]): string[][] {
  const targets = Map.groupBy(arrows, ({ from }) => from);
  const order = new Map<string, number>();
  const path: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    order.set(file, order.size);
    path.push(file);
    const reached = (targets.get(file) ?? []).map(({ to }) => {
      if (!order.has(to)) return visit(to);
      return path.includes(to) ? (order.get(to) ?? 0) : Number.POSITIVE_INFINITY;
    });
    const low = Math.min(order.get(file) ?? 0, ...reached);
    if (low === order.get(file)) {
      const circle = path.splice(path.indexOf(file));
      if (circle.length > 1) circles.push(circle);
    }
    return low;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return circles;
}

/** Returns the functions, parts of infra, and `events`, that import a module of shared/, directly or through others. */
function customersOf(module: string, users: ReadonlyMap<string, Import[]>): string[] {
  const modules = new Set([module]);
  const customers = new Set<string>();
  for (const file of modules) {
    for (const { from } of users.get(file) ?? []) {
      if (roomOf(from) === 'shared') modules.add(from);
      else customers.add(roomOf(from) === 'events' ? 'events' : dirname(from).split('/').slice(0, 2).join('/'));
    }
  }
  return [...customers];
}

const roomOf = (file: string) => file.split('/')[0] ?? '';

describe('arrows point one way', () => {
  it('finds the imports', () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.some(({ to }) => to === 'test/landscape/landscape.ts')).toBe(true);
  });

  it.each(Object.entries(arrows))('%s imports only from %j', (room, allowed) => {
    const wrong = imports.filter(({ from, to }) => roomOf(from) === room && !allowed.includes(roomOf(to)));
    expect(wrong).toEqual([]);
  });

  it('functions never import each other', () => {
    const folder = (file: string) => file.split('/').slice(0, 2).join('/');
    const wrong = imports.filter(
      ({ from, to }) => roomOf(from) === 'functions' && roomOf(to) === 'functions' && folder(from) !== folder(to),
    );
    expect(wrong).toEqual([]);
  });

  it('shared/kube does not import shared/runtime', () => {
    const within = (folder: string, file: string) => file.startsWith(`${folder}/`);
    const wrong = allImports.filter(({ from, to }) => within('shared/kube', from) && within('shared/runtime', to));
    expect(wrong, 'the client knows nothing of functions: move what both need to shared/errors.ts').toEqual([]);
  });

  it('every module of shared/ serves at least two customers', () => {
    const users = Map.groupBy(
      imports.filter(({ from }) => shipped.includes(from)),
      ({ to }) => to,
    );
    const single = shipped
      .filter((file) => roomOf(file) === 'shared')
      .map((file) => ({ file, customers: customersOf(file, users) }))
      .filter(({ customers }) => customers.length < 2)
      .map(({ file, customers }) => `${file} serves ${customers[0] ?? 'no shipped file'}: move it there`);
    expect(single).toEqual([]);
  });

  it('shipped files import no development dependency', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const packages = Object.keys(devDependencies).join('|');
    const imported = new RegExp(`(?:^import (?!type )[^;]*?from|import\\()\\s*'(?:${packages})['/]`, 'm');
    const wrong = shipped.filter((file) => imported.test(readFileSync(join(root, file), 'utf8')));
    // These make what is shipped, or run in a checkout only.
    const makers = ['infra/bundle-cli.ts', 'infra/bundle.ts', 'infra/release/zip.ts'];
    expect(wrong).toEqual([...makers, 'infra/gardener/registration/chart-values.ts']);
  });

  it('no files import each other in a circle', () => {
    const circles = circlesOf(allImports).map((files) => files.join(' <-> '));
    expect(circles, 'move what the files share to a file that imports neither').toEqual([]);
  });

  it('every decision is pure: no clock, no input, no output', () => {
    const pure = shipped.filter((file) =>
      /^functions\/.*\/(plan\/[^/]+|assess|decide|judge|conditions|polling|explain|health|keep-verdict|kstatus|controllers|next-check)\.ts$/.test(
        file,
      ),
    );
    expect(pure.length).toBeGreaterThan(4);
    const impure = pure.filter((file) =>
      /Date\.now|new Date\(\)|process\.|node:fs|node:https|\bfetch\(|Math\.random/.test(
        readFileSync(join(root, file), 'utf8'),
      ),
    );
    expect(impure).toEqual([]);
  });
});

describe('files have one idea each', () => {
  it('the median shipped file has between 40 and 120 lines', () => {
    const lengths = shipped
      .map((file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1)
      .sort((a, b) => a - b);
    const median = lengths[lengths.length >> 1] ?? 0;
    expect(median, 'merge files that are too small, split files that have two ideas').toBeGreaterThanOrEqual(40);
    expect(median, 'merge files that are too small, split files that have two ideas').toBeLessThanOrEqual(120);
  });
});
