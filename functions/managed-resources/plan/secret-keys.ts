import { listedRules } from '../../../shared/config/listed/rules.ts';
import { keySentence } from '../../../shared/config/listed/secret-keys.ts';
import { type Origins, originOf } from '../../../shared/config/origins.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { ConfigIssue } from '../../../shared/errors.ts';
import type { SecretContent } from '../../../shared/flux/release.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';

/**
 * Returns the issues with copied Secrets that lack a key which a listed object needs, before anything is applied. Only the
 * names of keys are looked at. Secrets that come from elsewhere are not read.
 * @param release the release of Flux, for example `v2.9.4`
 */
export function secretKeyIssues(
  config: EffectiveConfig,
  secrets: readonly SecretContent[],
  release: string,
): ConfigIssue[] {
  const objects = listedObjects(config);
  if (objects.length === 0) return [];
  const contents = new Map(secrets.map((secret) => [`${secret.namespace}/${secret.name}`, secret]));
  const { secretUses } = listedRules();
  return objects.flatMap(({ object, part }) =>
    secretUses(object).flatMap(({ kind, name, path, needs }) => {
      const secret = contents.get(`${object.metadata.namespace}/${name}`);
      if (kind !== 'Secret' || secret === undefined) return [];
      const problem = needs?.(new Set(Object.keys(secret.data)), release);
      if (problem === undefined) return [];
      const message = `names Secret ${secret.namespace}/${name}, which ${keySentence(problem)}`;
      return [{ ...originOf(config.origins, `${part}.${path}`), message }];
    }),
  );
}

/** Returns the objects that come from lists, and which parts of the configuration they are. */
function listedObjects({ source, kustomization, objects, origins }: EffectiveConfig) {
  const root = (part: string, object: KubeObject | undefined) =>
    object === undefined || !isListed(origins, part) ? [] : [{ object, part }];
  return [
    ...root('source', source),
    ...root('kustomization', kustomization),
    ...objects.map((object, index) => ({ object, part: `objects[${index}]` })),
  ];
}

function isListed(origins: Origins, part: string): boolean {
  return /(^|\.)\w+\[0\]\.template$/.test(origins[part]?.path ?? '');
}
