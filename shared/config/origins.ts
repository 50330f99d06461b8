import type { ConfigIssue } from '../errors.ts';

/**
 * Path in the effective configuration -> where the layer that decides the field sets it, for example `flux.version` ->
 * `{object: 'ConfigMap garden-foo/flux-config', path: 'fluxVersion'}`. Fields with their default are missing. List
 * entries are named by their value, because lists are merged: `flux.components[source-watcher]`.
 */
export type Origins = Readonly<Record<string, Place>>;

/** The object in errors about a field that no layer sets. */
const MERGED_CONFIG = 'configuration';

/** Returns where a field or list entry comes from; one below a known field is at the same place below its origin. */
export function originOf(origins: Origins, path: string): Place {
  for (let known = path; known !== ''; known = parentOf(known)) {
    const origin = origins[known];
    if (origin !== undefined) return { ...origin, path: origin.path + path.slice(known.length) };
  }
  return { object: MERGED_CONFIG, path: path.replace(/\[.*$/, '') };
}

/** Returns the issue with a field of the effective configuration, where the user sets it. */
export function issueOf(origins: Origins, path: string, message: string): ConfigIssue {
  return { ...originOf(origins, path), message };
}

/** An entry that is named by its value has no field above it: it may come from another layer than the list. */
function parentOf(path: string): string {
  const list = path.replace(/\[\d+\]$/, '');
  return list === path ? path.slice(0, Math.max(0, path.lastIndexOf('.'))) : list;
}

/**
 * Returns the origins of the options that a layer sets.
 * @param originAt the origin of an option, or of one entry of its list
 */
export function optionOrigins(
  options: Readonly<Record<string, unknown>>,
  originAt: (option: string, index?: number) => Place,
): Origins {
  const origins: Record<string, Place> = {};
  // A component in both lists comes from `components`, and a repeated one from its first entry: the last one set wins.
  const { componentsExtra, ...others } = options;
  for (const [option, value] of Object.entries({ componentsExtra, ...others })) {
    if (value === undefined) continue;
    origins[`flux.${option}`] = originAt(option);
    if (!Array.isArray(value)) continue;
    for (const index of [...value.keys()].reverse())
      if (typeof value[index] === 'string') origins[`flux.${option}[${value[index]}]`] = originAt(option, index);
  }
  return origins;
}

/**
 * Where a part of the configuration is: an object, and the path in it, which is empty for the whole object. A FluxConfig
 * may be a whole object, such as a providerConfig, or a part of one.
 */
export type Place = Pick<ConfigIssue, 'object' | 'path'>;

/** Returns the place of a field below another one. */
export function inside({ object, path }: Place, below: string): Place {
  if (path === '' || below === '') return { object, path: path + below };
  return { object, path: below.startsWith('[') ? path + below : `${path}.${below}` };
}

/** Returns the issue with a field below a place. */
export function issueAt(place: Place, below: string, message: string): ConfigIssue {
  return { ...inside(place, below), message };
}

/** Returns whether `repositoryUrl` names the source: `keys` takes care of `flux-source` then, and users otherwise. */
export function isFromRepositoryUrl(origins: Origins): boolean {
  return origins['source.spec.url']?.path === 'repositoryUrl';
}
