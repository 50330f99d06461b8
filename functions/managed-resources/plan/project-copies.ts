import { FLUX_SOURCE } from '../../../shared/config/project-config.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/** Returns the copies of Secrets of the project, each as `<name> <namespace>/<name in the shoot>`. */
export function projectCopies({ sourceSecret, additionalSecrets }: EffectiveConfig): string[] {
  return [sourceSecret, ...additionalSecrets].flatMap((copy) => {
    const { type } = copy?.origin ?? {};
    if (copy === undefined || (type !== 'flux-source' && type !== 'project')) return [];
    const name = copy.origin.type === 'project' ? copy.origin.name : FLUX_SOURCE;
    return [`${name} ${copy.namespace}/${copy.targetName ?? name}`];
  });
}

/** The copies of a configuration, and those among them that are of Secrets of the project. */
interface Copies {
  objects: readonly KubeObject[];
  ofProject: readonly string[];
}

/**
 * Returns the copies of the kept configuration with what the Secrets of the project contain now. Contents that a Secret has
 * because of the next configuration stay out: a copy of another Secret, another kind of credentials, other host keys.
 * @returns undefined where nothing differs
 */
export function rotatedCopies(kept: Copies, next: Copies): KubeObject[] | undefined {
  const common = new Map(kept.ofProject.filter((one) => next.ofProject.includes(one)).map(placeAndName));
  const secrets = new Map(next.objects.filter(({ kind }) => kind === 'Secret').map((one) => [placeOf(one), one]));
  let isRotated = false;
  const objects = kept.objects.map((object) => {
    const name = object.kind === 'Secret' ? common.get(placeOf(object)) : undefined;
    const other = name === undefined ? undefined : secrets.get(placeOf(object));
    if (other === undefined || isEqual(object.data, other.data) || !isRotation(name, object, other)) return object;
    isRotated = true;
    return { ...object, data: other.data };
  });
  return isRotated ? objects : undefined;
}

function placeAndName(copy: string): [place: string, name: string] {
  const [name = '', place = ''] = copy.split(' ');
  return [place, name];
}

function placeOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

/**
 * `keys` writes the host keys of the repository into `flux-source`, and the configuration decides about the keys that
 * it needs.
 */
function isRotation(name: string | undefined, one: KubeObject, other: KubeObject): boolean {
  if (one.type !== other.type) return false;
  if (name !== FLUX_SOURCE) return true;
  const [before, after] = [one, other].map(({ data }) => (data ?? {}) as Record<string, string>);
  return (
    isEqual(Object.keys(before ?? {}).sort(), Object.keys(after ?? {}).sort()) &&
    before?.known_hosts === after?.known_hosts
  );
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
