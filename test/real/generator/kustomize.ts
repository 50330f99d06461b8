import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { buildTools } from '../tools/build.ts';

const run = promisify(execFile);

/** Folders for kustomize by name: the objects in each, and its kustomization.yaml. The first one also gets all objects. */
export type Layers = Record<string, { objects?: KubeObject[]; kustomization: Kustomization }>;

interface Kustomization {
  resources?: string[];
  [field: string]: unknown;
}

/**
 * Builds one set of folders after the other with the real kustomize, each from the objects that the former one gives.
 * @throws Error with its complaint
 */
export async function kustomized(dir: string, objects: KubeObject[], builds: Layers[]): Promise<KubeObject[]> {
  const { kustomize } = await buildTools(['kustomize']);
  let result = objects;
  for (const [index, layers] of builds.entries()) {
    const place = join(dir, String(index));
    const [first = '', ...others] = Object.keys(layers);
    await writeLayer(join(place, first), layers[first], result);
    for (const name of others) await writeLayer(join(place, name), layers[name]);
    const { stdout } = await run(kustomize, ['build', join(place, others.at(-1) ?? first)], {
      maxBuffer: 64 * 1024 * 1024,
    });
    result = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
  }
  return result;
}

async function writeLayer(
  dir: string,
  { objects = [], kustomization = {} }: Partial<Layers[string]> = {},
  added: KubeObject[] = [],
): Promise<void> {
  const all = [...added, ...objects];
  const { resources = [] } = kustomization;
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'objects.yaml'), all.map((object) => stringify(object)).join('---\n'));
  const own = { ...kustomization, resources: all.length === 0 ? resources : [...resources, 'objects.yaml'] };
  await writeFile(join(dir, 'kustomization.yaml'), stringify(own));
}
