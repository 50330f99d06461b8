import { asObject } from '../../shared/config/values.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Terminal } from './option.ts';
import { readDocuments } from './read-file.ts';

/** Reads the objects that an earlier `render` has written, as YAML or JSON. */
export async function readFormer(path: string, terminal: Terminal): Promise<KubeObject[]> {
  const documents = await readDocuments(path, terminal);
  const objects = documents.flatMap((document) => {
    const { kind, items } = asObject(document) ?? {};
    return kind === 'List' && Array.isArray(items) ? items : [document];
  });
  if (!objects.every(isObject)) {
    throw new ShootFluxError(`${path} holds something other than objects; pass what render has written before.`);
  }
  return objects;
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = asObject(value) ?? {};
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof asObject(metadata)?.name === 'string';
}
