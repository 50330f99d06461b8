import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A metric that the code counts, sets or observes. */
export interface CodeMetric {
  /** With the prefix. */
  name: string;
  kind: 'count' | 'gauge' | 'observe';
}

/** Finds all metrics of the code. */
export function metricsOfCode(): CodeMetric[] {
  const sources = ['events', 'functions', 'shared', 'infra'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => readFileSync(join(root, room, file), 'utf8')),
  );
  // With or without `metrics.`, because a function may destructure it.
  return sources.flatMap((source) =>
    [...source.matchAll(/\b(count|gauge|observe)\(\s*'(\w+)'/g)].map(([, kind, name]) => ({
      name: `shoot_flux_${name}`,
      kind: kind as CodeMetric['kind'],
    })),
  );
}
