import { badRequest } from './errors.ts';
import { type ApiObject, asObject, isObject, type Json } from './json.ts';

export type Matcher = (object: ApiObject) => boolean;

/** Matches everything. */
export const everything: Matcher = () => true;

/** Parses a label selector: `a=b` and `a in (b,c)`, the two forms that clients of the landscape send. */
export function labelMatcher(selector: string): Matcher {
  if (selector.trim() === '') return everything;
  const requirements = selector.split(/,(?![^()]*\))/).map(requirement);
  return (object) => {
    const labels = asObject(object.metadata.labels);
    return requirements.every(({ key, values }) => labels[key] !== undefined && values.includes(String(labels[key])));
  };
}

function requirement(text: string): { key: string; values: string[] } {
  const parsed = /^\s*([^\s!=,()]+)(?:\s+in\s*\(([^()]*)\)|=([^\s!=,()]*))\s*$/.exec(text);
  if (parsed === null) throw badRequest(`unable to parse requirement: ${text.trim()}`);
  const [, key = '', list, value = ''] = parsed;
  return { key, values: list === undefined ? [value] : list.split(',').map((each) => each.trim()) };
}

/** Fields that clients of the landscape select by, besides the name. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  events: ['involvedObject.name'],
  pods: ['status.phase'],
};

/** Parses a field selector, for example `metadata.name=a`. */
export function fieldMatcher(selector: string, plural: string, custom: boolean): Matcher {
  if (selector.trim() === '') return everything;
  const terms = selector.split(',').map((term) => {
    const parsed = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (!parsed) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
    const [, path = '', operator, value = ''] = parsed;
    if (path !== 'metadata.name' && (custom || !(selectable[plural] ?? []).includes(path))) {
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
