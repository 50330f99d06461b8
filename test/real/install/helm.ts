import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';

/** A chart with its values, as gardenlet or an operator renders it. */
export interface Release {
  /** Folder below `charts`. @default 'shoot-flux' */
  chart?: string;
  /** @default 'shoot-flux' */
  name?: string;
  namespace: string;
  values?: Record<string, unknown>;
}

/** Runs Helm; rejects with what it prints when it fails. */
export async function helm(...args: string[]): Promise<string> {
  return runProgram((await buildTools(['helm'])).helm, args);
}

/** Renders a chart as gardenlet does: only templates, without hooks or access to a cluster. */
export async function renderChart({
  chart = 'shoot-flux',
  name = 'shoot-flux',
  ...rest
}: Release): Promise<KubeObject[]> {
  return withValues(rest.values, async (file) => {
    const output = await helm('template', name, chartFolder(chart), '--namespace', rest.namespace, '--values', file);
    return objectsIn(output);
  });
}

/** Returns the objects of a text of YAML. */
export function objectsIn(text: string): KubeObject[] {
  const documents = parseAllDocuments(text).map((document) => document.toJS() as KubeObject | null);
  return documents.filter((object) => object !== null);
}

/** Lints a chart. A warning is a failure. */
export async function lintChart({ chart = 'shoot-flux', namespace, values }: Release): Promise<string> {
  return withValues(values, (file) =>
    helm('lint', chartFolder(chart), '--strict', '--namespace', namespace, '--values', file),
  );
}

export const chartFolder = (chart: string) => join(root, 'charts', chart);

async function withValues<T>(values: Record<string, unknown> = {}, act: (file: string) => Promise<T>): Promise<T> {
  await using folder = await folderWith({ 'values.yaml': stringify(values) });
  return await act(join(folder.path, 'values.yaml'));
}

/** Returns the first object of a kind. @param ending of its name */
export function find(objects: KubeObject[], kind: string, ending = ''): KubeObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name.endsWith(ending));
  if (found === undefined) throw new Error(`there is no ${kind} …${ending}`);
  return found;
}

export const ofKind = (objects: KubeObject[], kind: string) => objects.filter((object) => object.kind === kind);

type Data = Record<string, string>;

export interface PodTemplate {
  metadata: { labels: Data; annotations: Data };
  spec: { containers: { name: string; image: string; args: string[]; env?: object[]; volumeMounts?: object[] }[] };
}

/** Returns the Pods of the main Deployment. */
export const podOf = (objects: KubeObject[]) =>
  (find(objects, 'Deployment').spec as { template: PodTemplate }).template;

/** Returns the content of the first config file. */
export const configOf = (objects: KubeObject[]) =>
  parse((find(objects, 'ConfigMap').data as Data)['config.yaml'] ?? '');
