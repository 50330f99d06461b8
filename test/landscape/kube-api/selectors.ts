import { badRequest } from './errors.ts';
import { type ApiObject, asObject, isObject, type Json } from './json.ts';

export type Matcher = (object: ApiObject) => boolean;

/** Matches everything. */
export const everything: Matcher = () => true;

/** Parses a label selector: equality and sets. */
export function labelMatcher(selector: string): Matcher {
  if (selector.trim() === '') return everything;
  const requirements = splitOutsideParentheses(selector).map(requirement);
  return (object) => {
    const labels = asObject(object.metadata.labels);
    return requirements.every((matches) => matches(labels));
  };
}

type Requirement = (labels: Readonly<Record<string, Json | undefined>>) => boolean;

function requirement(text: string): Requirement {
  const set = /^\s*([^\s!=,()]+)\s+(in|notin)\s*\(([^()]*)\)\s*$/.exec(text);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return operator === 'in'
      ? (labels) => labels[key] !== undefined && values.has(String(labels[key]))
      : (labels) => labels[key] === undefined || !values.has(String(labels[key]));
  }
  const equality = /^\s*([^\s!=,()]+)\s*(==|=|!=)\s*([^\s!=,()]*)\s*$/.exec(text);
  if (equality) {
    const [, key = '', operator, value] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const existence = /^\s*(!?)\s*([^\s!=,()]+)\s*$/.exec(text);
  if (existence) {
    const [, not, key = ''] = existence;
    return not === '!' ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
  }
  throw badRequest(`unable to parse requirement: ${text.trim()}`);
}

function splitOutsideParentheses(selector: string): string[] {
  return selector.split(/,(?![^()]*\))/);
}

/** Fields that the API server can select by, besides name and namespace. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  secrets: ['type'],
  pods: ['spec.nodeName', 'status.phase'],
  events: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'reason',
    'type',
  ],
};

/** Parses a field selector, for example `metadata.name=a`. */
export function fieldMatcher(selector: string, plural: string, custom: boolean): Matcher {
  if (selector.trim() === '') return everything;
  const terms = selector.split(',').map((term) => {
    const parsed = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (!parsed) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const [, path = '', operator, value = ''] = parsed;
    const known = path === 'metadata.name' || path === 'metadata.namespace';
    if (!known && (custom || !(selectable[plural] ?? []).includes(path))) {
      throw badRequest(`field label not supported: ${path}`);
    }
    return { path: path.split('.'), equals: operator !== '!=', value };
  });
  return (object) => terms.every(({ path, equals, value }) => (text(object, path) === value) === equals);
}

function text(object: ApiObject, path: readonly string[]): string {
  let value: Json | undefined = object;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  return value === undefined || value === null ? '' : String(value);
}
