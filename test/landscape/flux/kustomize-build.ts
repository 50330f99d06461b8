import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { errorMessage, type KubeObject } from '../client/client.ts';
import { FluxFailure } from './status.ts';

/**
 * Returns the objects of a folder: those that its `kustomization.yaml` lists under `resources`, or all its YAML without
 * that file. It rejects patches, generators and everything else of kustomize.
 * @throws FluxFailure ArtifactFailed or BuildFailed
 */
export function buildFolder(root: string, path = './'): KubeObject[] {
  const folder = join(root, path);
  if (!existsSync(folder)) {
    throw new FluxFailure(
      'ArtifactFailed',
      `kustomization path not found: stat ${join('/tmp/kustomization-1', path)}: no such file or directory`,
    );
  }
  try {
    return objectsOf(root, folder);
  } catch (error) {
    if (error instanceof FluxFailure) throw error;
    throw new FluxFailure('BuildFailed', `kustomize build failed: ${errorMessage(error).split('\n')[0]}`);
  }
}

const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];
const understood = new Set(['apiVersion', 'kind', 'metadata', 'resources', 'namespace']);

function objectsOf(root: string, path: string): KubeObject[] {
  if (!statSync(path).isDirectory()) return documents(root, path);
  const name = kustomizationNames.find((candidate) => existsSync(join(path, candidate)));
  if (name === undefined) return yamlFiles(path).flatMap((file) => documents(root, file));
  const kustomization = parse(readFileSync(join(path, name), 'utf8')) as { resources?: string[]; namespace?: string };
  const foreign = Object.keys(kustomization).find((key) => !understood.has(key));
  if (foreign !== undefined)
    throw new Error(`the stand-in does not understand ${foreign} in ${relative(root, join(path, name))}`);
  const objects = (kustomization.resources ?? []).flatMap((resource) => objectsOf(root, join(path, resource)));
  const { namespace } = kustomization;
  return namespace === undefined ? objects : objects.map((object) => inNamespace(object, namespace));
}

function yamlFiles(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ya?ml$/.test(file));
  return files.sort().map((file) => join(folder, file));
}

function documents(root: string, file: string): KubeObject[] {
  const objects: KubeObject[] = [];
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    if (document.errors[0] !== undefined) throw new Error(`${relative(root, file)}: ${document.errors[0].message}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) continue;
    if (!isObject(value)) throw new Error(`${relative(root, file)}: not a Kubernetes object`);
    objects.push(value);
  }
  return objects;
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'apiVersion' in value && 'metadata' in value;
}

/** Returns the object in the namespace, also for cluster-scoped kinds, for which `apply` removes it again. */
export function inNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}
