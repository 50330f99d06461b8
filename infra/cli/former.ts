import { asObject } from '../../shared/config/values.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { FLUX_CONFIG } from '../../shared/gardener/project-config.ts';
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
  const input = objects.find(isInput);
  if (input !== undefined) {
    throw new ShootFluxError(
      `${path} holds the ${input.kind} ${input.metadata.name}, which is an input of render; run render with it first, and pass what that has written.`,
    );
  }
  return objects;
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = asObject(value) ?? {};
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof asObject(metadata)?.name === 'string';
}

/** An input would look as if it were to be removed, and every object as if it were new. */
function isInput({ kind, metadata }: KubeObject): boolean {
  return ['Shoot', 'FluxConfig'].includes(kind) || (kind === 'ConfigMap' && metadata.name === FLUX_CONFIG);
}
