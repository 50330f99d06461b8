import { type Document, isScalar, type ParsedNode, visit } from 'yaml';

// Imported dynamically. In a bundle a dynamic import of the package itself, a CommonJS module, has no named exports.
export { isScalar, parse as parseYaml, parseAllDocuments, parseDocument, visit } from 'yaml';

/** For `repeatedKey`, which is quick: the parser compares each key with each. Keys are texts. */
export const quickly = { uniqueKeys: false, stringKeys: true, logLevel: 'error' } as const;

/** Returns a key that a map of the document has twice. */
export function repeatedKey(document: Document.Parsed<ParsedNode>): string | undefined {
  let repeated: string | undefined;
  visit(document, {
    Map(_, { items }) {
      const keys = items.map(({ key }) => String(isScalar(key) ? key.value : key));
      const seen = new Set<string>();
      for (const key of keys) {
        if (seen.has(key)) {
          repeated = key;
          return visit.BREAK;
        }
        seen.add(key);
      }
      return undefined;
    },
  });
  return repeated;
}

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
