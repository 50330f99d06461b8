import { cp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { chartFolder, helm, renderChart } from './helm.ts';

const charts = ['shoot-flux', ...['runtime', 'application'].map((part) => `shoot-flux-admission/charts/${part}`)];
const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Renders a chart of another version. */
async function renderVersion(chart: string, version: string): Promise<KubeObject[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-chart-'));
  await cp(chartFolder(chart), folder.path, { recursive: true });
  const file = join(folder.path, 'Chart.yaml');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  const output = await helm('template', 'shoot-flux', folder.path, '--namespace', 'other');
  return parseAllDocuments(output).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
}

/** Returns the values of all labels of an object and of its Pods. */
function labelsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'labels' && !Array.isArray(inner) ? Object.values(inner as object).map(String) : labelsIn(inner),
  );
}

describe.each(charts)('the chart %s', (chart) => {
  it.each(['0.1.0+build.1', `0.1.0-${'a'.repeat(70)}.1`])(
    'has labels that Kubernetes accepts in version %s',
    async (version) => {
      const labels = (await renderVersion(chart, version)).flatMap(labelsIn);
      expect(labels.length).toBeGreaterThan(5);
      expect(labels.filter((label) => !LABEL.test(label) || label.length > 63)).toEqual([]);
    },
  );
});

it('the image of a version with metadata has a tag that registries accept, as Helm writes it', async () => {
  for (const chart of charts.slice(0, 2)) {
    const text = JSON.stringify(await renderVersion(chart, '0.1.0+build.1'));
    expect(text).toContain('"registry.example.com/shoot-flux:0.1.0_build.1"');
  }
});

it.each(['flux.my-seed', 'my.shoot-flux', `${'a'.repeat(28)}.b`, `${'a'.repeat(36)}.b.shoot-flux`])(
  'a release may be called %s',
  async (name) => {
    const objects = await renderChart({ name, namespace: 'other' });
    const names = objects.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    for (const service of names) expect(service).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
  },
);

it('a seed cannot be called like the garden', async () => {
  const values = { kubeconfigs: { garden: { secretName: 'a' }, seeds: { garden: { secretName: 'b' } } } };
  await expect(renderChart({ namespace: 'other', values })).rejects.toThrow(
    'kubeconfigs.seeds.garden: a seed cannot be called garden; the kubeconfig of the garden is kubeconfigs.garden',
  );
});
