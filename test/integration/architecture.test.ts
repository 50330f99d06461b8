import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Which rooms each room may import; a function counts as a room of its own. */
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

const isTest = (file: string) => /\.test\.ts$|(^|\/)testing\.ts$/.test(file);

function sources(room: string): string[] {
  return readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(room, file));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\(|import)\s*['"](\.{1,2}\/[^'"]+)['"]/g)];
  return specifiers.map(([, specifier]) => ({
    from: file,
    to: relative(root, resolve(root, dirname(file), specifier ?? '')),
  }));
}

/** Test files and their helpers may reach for the landscape; what ships may not. */
const shipped = Object.keys(arrows).flatMap((room) => sources(room).filter((file) => room === 'test' || !isTest(file)));
const imports = shipped.flatMap(importsOf);
const importsOfAll = Object.keys(arrows).flatMap(sources).flatMap(importsOf);

/** Groups of files of which each imports, directly or not, all others of its group (Tarjan's algorithm). */
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

const roomOf = (file: string) => file.split('/')[0] ?? '';

describe('arrows point one way', () => {
  it('finds the imports at all', () => {
    expect(imports.length).toBeGreaterThan(100);
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
    const wrong = importsOfAll.filter(({ from, to }) => within('shared/kube', from) && within('shared/runtime', to));
    expect(wrong, 'the client knows nothing of functions: move what both need to shared/errors.ts').toEqual([]);
  });

  it('no files import each other in a circle', () => {
    const circles = circlesOf(importsOfAll).map((files) => files.join(' <-> '));
    expect(circles, 'move what the files share to a file that imports neither').toEqual([]);
  });

  it('trap 21: no error code that puts a Shoot into Failed is given anywhere', () => {
    const codes = shipped
      .filter((file) => !file.startsWith('test/'))
      .flatMap((file) => readFileSync(join(root, file), 'utf8').match(/\bERR_[A-Z_]+/g) ?? []);
    expect(new Set(codes)).toEqual(new Set(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']));
  });

  it('every decision is pure: no clock, no input, no output', () => {
    const pure = shipped.filter((file) =>
      /^functions\/.*\/(assess|decide|desired|judge|follow|leaving|plan|conditions|polling|explain|health|keep-verdict|kstatus|controllers)\.ts$/.test(
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
