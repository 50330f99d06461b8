import { MOST_ISSUES_OF_A_PART } from '../../../shared/config/limits.ts';
import { configuredObjects } from '../../../shared/config/listed/links.ts';
import { keySentence, type NeedsKeys, secretUses } from '../../../shared/config/listed/secret-uses.ts';
import { originOf } from '../../../shared/config/origins.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { ConfigIssue } from '../../../shared/errors.ts';
import type { SecretContent } from '../../../shared/flux/release.ts';

/**
 * Returns the issues with copied Secrets that lack a key which a listed object needs; only names of keys are looked at.
 */
export function secretKeyIssues(
  config: EffectiveConfig,
  secrets: readonly SecretContent[],
  release: string,
): ConfigIssue[] {
  const isListed = (part: string) =>
    part.startsWith('objects[') || /(^|\.)\w+\[0\]\.template$/.test(config.origins[part]?.path ?? '');
  const objects = configuredObjects(config).filter(({ part }) => isListed(part));
  if (objects.length === 0) return [];
  // Made once: a Secret may have a hundred thousand keys, and a thousand fields may name it.
  const answersAt = new Map(
    secrets.map(({ namespace, name, data }) => [
      `${namespace}/${name}`,
      answersOf(new Set(Object.keys(data)), release),
    ]),
  );
  const issues: ConfigIssue[] = [];
  for (const { object, part } of objects) {
    for (const { kind, name, path, needs } of secretUses(object)) {
      const answer = kind === 'Secret' ? answersAt.get(`${object.metadata.namespace}/${name}`) : undefined;
      const problem = needs && answer?.(needs);
      if (problem === undefined) continue;
      const message = `names Secret ${object.metadata.namespace}/${name}, which ${keySentence(problem)}`;
      issues.push({ ...originOf(config.origins, `${part}.${path}`), message });
      if (issues.length === MOST_ISSUES_OF_A_PART) return issues;
    }
  }
  return issues;
}

/** Returns a function that asks each question about the keys once: some read all of them. */
function answersOf(keys: ReadonlySet<string>, release: string): (needs: NeedsKeys) => ReturnType<NeedsKeys> {
  const known = new Map<NeedsKeys, ReturnType<NeedsKeys>>();
  return (needs) => {
    const answer = known.has(needs) ? known.get(needs) : needs(keys, release);
    known.set(needs, answer);
    return answer;
  };
}
