import type { KubeObject } from '../../kube/resource.ts';
import { parsePatch } from '../patches/parse.ts';
import type { FluxInstall, Patch } from '../types.ts';
import type { Part } from './links.ts';
import { PATCH } from './secret-uses.ts';

/**
 * Returns the patches of the installation as objects in the namespace of Flux, whose references are those of any object.
 * A patch that cannot be parsed has an error of its own.
 */
export function patchParts({ patches = [], namespace }: Pick<FluxInstall, 'patches' | 'namespace'>): Part[] {
  return patches.map((patch, index) => {
    const object: KubeObject = {
      apiVersion: '',
      kind: PATCH,
      metadata: { name: '', namespace },
      spec: contentOf(patch),
    };
    return { part: `flux.patches[${index}]`, object };
  });
}

/** Returns what a patch writes, as far as it would have it in an object. */
function contentOf(patch: Patch): object[] {
  try {
    const parsed = parsePatch(patch);
    if ('merges' in parsed) return parsed.merges;
    if ('merge' in parsed) return [parsed.merge];
    return parsed.operations.flatMap((operation) =>
      'value' in operation ? [placed(operation.path.split('/').slice(1), operation.value) as object] : [],
    );
  } catch {
    return [];
  }
}

/** Puts a value below its path: `/volumes/0` is the first entry of a list. */
function placed([name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  return /^(-|\d+)$/.test(name) ? [placed(rest, value)] : { [name]: placed(rest, value) };
}
