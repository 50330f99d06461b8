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
      if (new Set(keys).size === keys.length) return undefined;
      repeated = keys.find((key, index) => keys.indexOf(key) < index);
      return visit.BREAK;
    },
  });
  return repeated;
}
