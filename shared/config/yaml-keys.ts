import type { Document, ParsedNode } from 'yaml';
import { isScalar, visit } from '../kube/parse-yaml.ts';
import { quote } from './quote.ts';

/**
 * Returns what is wrong with the keys of a document: one is there twice, or merges. Merge keys inside each other take
 * the parser for ever, and without them `<<` would be a field that no API knows.
 */
export function keyProblem(document: Document.Parsed<ParsedNode>): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = String(isScalar(key) ? key.value : key);
        if (seen.has(name)) problem = `has the key ${quote(name)} twice; remove one of them`;
        else if (name === '<<' && isScalar(key) && key.type === 'PLAIN')
          problem = 'has a merge key, <<, which is not supported; write the fields in its place';
        if (problem !== undefined) return visit.BREAK;
        seen.add(name);
      }
      return undefined;
    },
  });
  return problem;
}
