import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AlertGroup, admissionAlerts, seedAlerts } from '../../infra/gardener/monitoring/alerts.ts';
import { dashboardFile } from '../../infra/gardener/monitoring/dashboard.ts';
import { createPrometheusMetrics } from '../../infra/process/metrics.ts';
import { root } from './documents.ts';

const running = readFileSync(join(root, 'docs/running.md'), 'utf8');

/** The metrics that the code counts, sets or observes, with their prefix. */
function metricsOfCode() {
  const sources = ['events', 'functions', 'shared', 'infra'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => readFileSync(join(root, room, file), 'utf8')),
  );
  // With or without `metrics.`, because a function may destructure it.
  return sources.flatMap((source) =>
    [...source.matchAll(/\b(count|gauges?|observe)\(\s*'(\w+)'/g)].map(([, kind, name]) => ({
      ...{ name: `shoot_flux_${name}`, kind },
    })),
  );
}
const metrics = metricsOfCode();

/** Names under which Prometheus stores the metrics of a process. */
const known = new Set(
  metrics.flatMap(({ name, kind }) =>
    kind === 'observe' ? ['_bucket', '_sum', '_count'].map((suffix) => `${name}${suffix}`) : [name],
  ),
);

/** Labels by metric, from the table in docs/running.md. */
const labels = new Map(
  [...running.matchAll(/^\| `(shoot_flux_\w+)` \| (.*?) \|/gm)].map(([, name = '', text = '']) => [
    name,
    [...text.replace(/: .*/, '').matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  ]),
);
/** Labels that Prometheus adds to what it reads from a Pod, and that of histograms. */
const added = ['namespace', 'pod', 'container', 'le'];

interface Dashboard {
  templating: { list: object[] };
  panels: { type: string; title: string; datasource?: string; targets?: { expr: string; legendFormat: string }[] }[];
}
const dashboard: Dashboard = JSON.parse(dashboardFile());

const expressionsOf = (groups: AlertGroup[]) => groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
const expressions = [
  ...new Set([
    ...expressionsOf(seedAlerts),
    ...expressionsOf(admissionAlerts),
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ]),
];
const metricsIn = (expr: string) => [...expr.matchAll(/\b(?:shoot_flux|process|nodejs)_\w+/g)].map(([name]) => name);
const labelsIn = (expr: string) => [
  ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
  ...[...expr.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label),
];

describe('alerts and dashboard', () => {
  it.each(expressions)('use metrics and labels that exist: %s', async (expr) => {
    const { text: ofProcess } = await createPrometheusMetrics().expose();
    const names = metricsIn(expr);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !known.has(name) && !ofProcess.includes(`\n${name} `))).toEqual([]);
    const documented = names.flatMap((name) => labels.get(name.replace(/_(bucket|sum|count)$/, '')) ?? []);
    expect(labelsIn(expr).filter((label) => ![...documented, ...added].includes(label))).toEqual([]);
  });

  it('name in their texts only labels that the expression keeps', () => {
    for (const { expr, annotations } of [...seedAlerts, ...admissionAlerts].flatMap(({ rules }) => rules)) {
      const kept = [...(/^\S.*?by \(([^)]*)\)/.exec(expr)?.[1]?.split(/,\s*/) ?? [])];
      const named = [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
      expect(named.filter((label) => !kept.includes(label ?? ''))).toEqual([]);
    }
  });

  it('are in the charts as generated', () => {
    const file = readFileSync(join(root, 'charts/shoot-flux/alerts.yaml'), 'utf8');
    expect(parse(file)).toEqual({ groups: seedAlerts });
    expect(readFileSync(join(root, 'charts/shoot-flux/dashboard.json'), 'utf8')).toBe(dashboardFile());
    expect(dashboard.panels.filter(({ type }) => type === 'graph').length).toBeGreaterThan(10);
  });
});

it('docs/running.md names every metric of the code', () => {
  expect(new Set(labels.keys())).toEqual(new Set(metrics.map(({ name }) => name)));
});
