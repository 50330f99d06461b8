import type { ScalarTag, Tags } from 'yaml';

/** A number such as 0444, the mode of a file: octal for kubectl, Helm and kustomize, and decimal in YAML 1.2. */
const octal: ScalarTag = {
  identify: () => false,
  default: true,
  tag: 'tag:yaml.org,2002:int',
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

/** Numbers mean what they mean in a manifest. */
export const asInManifests = { customTags: (tags: Tags): Tags => [octal, ...tags] };

/** For `keyProblem`, which is quick: the parser compares each key with each. Keys are texts. */
export const quickly = { ...asInManifests, uniqueKeys: false, stringKeys: true, logLevel: 'error' } as const;

/** What is wrong with a document whose value `isJson` rejects. */
export const NOT_JSON =
  'has a value that JSON cannot express (an alias, a tag, a date, .inf or .nan); write the value itself';

/** Returns whether JSON can express a value: tags make others, dates and sets for example, and aliases circles. */
export function isJson(value: unknown): boolean {
  return isJsonBelow(value, new Set());
}

/** @param above the objects and lists around the value, none of which it may contain */
function isJsonBelow(value: unknown, above: Set<unknown>): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain || above.has(value)) return false;
  above.add(value);
  const isAllJson = Object.values(value).every((inner) => isJsonBelow(inner, above));
  above.delete(value);
  return isAllJson;
}
