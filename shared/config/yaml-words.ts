import type { Document, ParsedNode } from 'yaml';
import { visit } from '../kube/parse-yaml.ts';

/** Booleans in YAML 1.1, as kubectl and Helm read it, and texts in YAML 1.2. */
const BOOLEAN_ELSEWHERE = /^(?:yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF)$/;

/** Returns what is wrong with the words of a document: `enabled: no` would be a text, which is true for a chart. */
export function wordProblem(document: Document.Parsed<ParsedNode>): string | undefined {
  let problem: string | undefined;
  visit(document, {
    Scalar(role, { type, value }) {
      if (role === 'key' || type !== 'PLAIN' || typeof value !== 'string') return undefined;
      if (!BOOLEAN_ELSEWHERE.test(value)) return undefined;
      problem = `has ${value} without quotes, which kubectl and Helm read as a boolean; write true or false, or put it in quotes`;
      return visit.BREAK;
    },
  });
  return problem;
}
