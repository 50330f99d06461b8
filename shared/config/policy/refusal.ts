import type { ConfigIssue } from '../../errors.ts';
import { type Origins, originOf } from '../origins.ts';
import { truncate } from '../quote.ts';
import type { Rule } from './policy.ts';

/** Returns the issue of a field that a rule refuses: one sentence that names the rule. */
export function refusal(rule: Rule, { origins, path }: Place, what: string, remedy: string): ConfigIssue {
  const message = `${what} ${rule} in the policy of this landscape; ${remedy}`;
  return { ...originOf(origins, path), message, rule };
}

/** A field of the effective configuration, and where the user sets it. */
export interface Place {
  origins: Origins;
  path: string;
}

/** How many entries of a list a sentence names, and in how many characters. */
const MAX_ENTRIES = 10;
const MAX_LIST = 300;

/** Returns the remedy that names what is allowed. */
export function useOneOf(allowed: readonly string[]): string {
  const named: string[] = [];
  for (const entry of allowed.slice(0, MAX_ENTRIES)) {
    if (named.length > 0 && named.join(', ').length + entry.length > MAX_LIST) break;
    named.push(truncate(entry));
  }
  const more = allowed.length > named.length ? ` or ${allowed.length - named.length} more` : '';
  return `use ${named.length + (more === '' ? 0 : 1) > 1 ? 'one of ' : ''}${named.join(', ')}${more}`;
}
