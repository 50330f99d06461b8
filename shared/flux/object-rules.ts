import { originOf } from '../config/origins.ts';
import type { EffectiveConfig } from '../config/types.ts';
import type { ConfigIssue } from '../errors.ts';
import type { CrdSchema } from './crd-schema.ts';
import { configuredObjects, customResourceIn } from './custom-resources.ts';
import { hasRareFields } from './rare-fields.ts';
import type { Release } from './release.ts';

/**
 * Returns the issues that the rules of the release's CRDs have with the objects for Flux, whose types are valid. Only objects
 * that rules may be about load the code that evaluates them.
 */
export async function objectRuleIssues(config: EffectiveConfig, release: Release): Promise<ConfigIssue[]> {
  const withRules = configuredObjects(config)
    .filter(({ part, object }) => part.startsWith('objects[') || hasRareFields(object))
    .map(({ part, object }) => ({ part, object, schema: customResourceIn(release, config, object, part).spec }))
    .filter(({ schema }) => schema !== undefined && hasRules(schema));
  if (withRules.length === 0) return [];
  const { ruleProblems } = await import('./cel.ts');
  return withRules.flatMap(({ part, object, schema }) =>
    ruleProblems(schema as CrdSchema, object.spec, [part, 'spec']).map(({ path, message }) => ({
      ...originOf(config.origins, path),
      message,
    })),
  );
}

const known = new WeakMap<CrdSchema, boolean>();

function hasRules(schema: CrdSchema): boolean {
  const found = known.get(schema) ?? JSON.stringify(schema).includes('"x-kubernetes-validations"');
  known.set(schema, found);
  return found;
}
