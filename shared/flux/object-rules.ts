import { parse } from '@marcbachmann/cel-js';
import { limits, MOST_ISSUES_OF_A_PART } from '../config/limits.ts';
import { configuredObjects } from '../config/listed/links.ts';
import { issueOf } from '../config/origins.ts';
import { pathText } from '../config/schema.ts';
import type { EffectiveConfig } from '../config/types.ts';
import type { ConfigIssue } from '../errors.ts';
import type { CrdSchema, Path, SchemaProblem } from './crd-schema.ts';
import { customResourceIn } from './custom-resources.ts';
import type { Release } from './release.ts';

/** Returns the issues that the rules of the release's CRDs have with the objects for Flux, whose types are valid. */
export function objectRuleIssues(config: EffectiveConfig, release: Release): ConfigIssue[] {
  return configuredObjects(config)
    .flatMap(({ part, object }) => {
      const { spec } = customResourceIn(release, config, object, part);
      return spec === undefined ? [] : ruleProblems(spec, object.spec, [part, 'spec']);
    })
    .map(({ path, message }) => issueOf(config.origins, path, message));
}

/**
 * Returns the rules of a CRD (`x-kubernetes-validations`) that a value breaks. A rule that cannot be evaluated here is left to
 * the API server, so that no valid object is refused.
 * @param path the path of the value
 */
export function ruleProblems(schema: CrdSchema, value: unknown, path: Path): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  check(schema, withDefaults(schema, value), path, problems);
  return problems.slice(0, MOST_ISSUES_OF_A_PART);
}

/** The API server fills in defaults before it evaluates rules. Integers are their own type in CEL. */
function withDefaults(schema: CrdSchema, value: unknown): unknown {
  if (value === undefined) return schema.default === undefined ? undefined : withDefaults(schema, schema.default);
  if (schema.type === 'integer' && Number.isInteger(value)) return BigInt(value as number);
  if (Array.isArray(value)) return value.map((item) => (schema.items ? withDefaults(schema.items, item) : item));
  if (typeof value !== 'object' || value === null) return value;
  const fields: Record<string, unknown> = { ...value };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = withDefaults(property, Object.hasOwn(value, name) ? fields[name] : undefined);
    if (field !== undefined) fields[name] = field;
  }
  return fields;
}

function check(schema: CrdSchema, value: unknown, path: Path, problems: SchemaProblem[]): void {
  if (value === undefined || problems.length >= MOST_ISSUES_OF_A_PART) return;
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) {
    if (isBroken(rule, value)) {
      const reason = message?.replaceAll(/\s+/g, ' ').replace(/\.$/, '') ?? `it must fulfil ${rule}`;
      problems.push({ path: pathText(path), message: `breaks a rule of its kind: ${reason}; correct it` });
    }
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (schema.items) check(schema.items, item, [...path, index], problems);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      check(property, (value as Record<string, unknown>)[name], [...path, name], problems);
  }
}

/** Rules about a change need the former object, which only the API server has. */
function isBroken(rule: string, self: unknown): boolean {
  if (/\boldSelf\b/.test(rule) || hasLongText(self)) return false;
  try {
    return parsed(rule)({ self }) === false;
  } catch {
    return false;
  }
}

const expressions = new Map<string, ReturnType<typeof parse>>();

/** The rules come from the CRDs of releases, so there are few of them. */
function parsed(rule: string): ReturnType<typeof parse> {
  const known = expressions.get(rule) ?? parse(rule);
  expressions.set(rule, known);
  return known;
}

/** Regular expressions of rules read texts. */
function hasLongText(value: unknown): boolean {
  if (typeof value === 'string') return value.length > limits.text.most;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongText);
}
