import { PatchProblem } from '../../config/patches/parse.ts';
import { quote } from '../../config/quote.ts';
import type { PatchTarget } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';

/**
 * Returns the filter for the objects that a target selects, as kustomize selects them: an empty field selects everything.
 * @throws PatchProblem
 */
export function selectorOf(target: PatchTarget): (object: KubeObject) => boolean {
  const patterns = (['group', 'version', 'kind', 'name', 'namespace'] as const).flatMap((field) => {
    const pattern = target[field];
    return pattern ? [{ field, matches: once(targetPattern(`target.${field}`, pattern)) }] : [];
  });
  const { labelSelector: labels, annotationSelector: annotations } = target;
  const hasLabels = labels && labelSelector('target.labelSelector', labels);
  const hasAnnotations = annotations && labelSelector('target.annotationSelector', annotations);
  return ({ apiVersion, kind, metadata }) => {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    // Cluster-scoped objects have no namespace: only the empty pattern, or none, selects them.
    const { name, namespace = '_non_namespaceable_' } = metadata;
    const identity = { group, version, kind, name, namespace };
    return (
      patterns.every(({ field, matches }) => matches(identity[field])) &&
      (!hasLabels || hasLabels(metadata.labels ?? {})) &&
      (!hasAnnotations || hasAnnotations(metadata.annotations ?? {}))
    );
  };
}

/** Returns whether a pattern matches a text, which is read once: most objects have the same namespace. */
function once(pattern: RegExp): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const matches = known.get(text) ?? pattern.test(text);
    known.set(text, matches);
    return matches;
  };
}

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const KEY = '[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?';
const VALUE = '([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?';
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`);
const EQUALS = new RegExp(`^(${KEY})\\s*(=|==|!=)\\s*(${VALUE})$`);
const IN = new RegExp(`^(${KEY})\\s+(in|notin)\\s+\\(([^()]*)\\)$`);

/** Parses a selector such as `app=source-controller,tier in (a, b),!legacy`. @throws PatchProblem */
export function labelSelector(field: string, text: string): Requirement {
  const requirements = partsOf(text).map((part) => {
    const requirement = part === '' ? undefined : requirementOf(part);
    if (requirement !== undefined) return requirement;
    throw new PatchProblem(
      `${field} ${quote(text)} is not a label selector; use a form like app=source-controller,tier in (a,b)`,
    );
  });
  return (labels) => requirements.every((requirement) => requirement(labels));
}

/** Splits at the commas outside of parentheses: from the end, where a comma inside is one after which `)` comes first. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let end = text.length;
  let isInside = false;
  for (let index = end - 1; index >= 0; index--) {
    const character = text[index];
    if (character === ')') isInside = true;
    else if (character === '(') isInside = false;
    else if (character === ',' && !isInside) {
      parts.push(text.slice(index + 1, end).trim());
      end = index;
    }
  }
  return [...parts, text.slice(0, end).trim()].reverse();
}

function requirementOf(part: string): Requirement | undefined {
  const has = (labels: Labels, key: string) => Object.hasOwn(labels, key);
  const exists = EXISTS.exec(part);
  if (exists !== null) {
    const [, not, key = ''] = exists;
    return (labels) => has(labels, key) !== (not === '!');
  }
  const equals = EQUALS.exec(part);
  if (equals !== null) {
    const [, key = '', , operator, value = ''] = equals;
    return (labels) => (has(labels, key) && labels[key] === value) !== (operator === '!=');
  }
  const list = IN.exec(part);
  if (list === null) return undefined;
  const [, key = '', , operator, values = ''] = list;
  const wanted = values.split(',').map((value) => value.trim());
  return (labels) => (has(labels, key) && wanted.includes(labels[key] ?? '')) !== (operator === 'notin');
}

/**
 * Enough for names of objects, and never slow: groups are not repeated, and few parts are. Each repeated part multiplies the
 * time by the length of the text: with four, the namespace of 63 characters took a millisecond for each object.
 */
const PLAIN = /^[\w.*+?|()[\]^$\\-]*$/;
const MOST = { characters: 253, repetitions: 3, groups: 2, alternatives: 30 };

/**
 * Parses a pattern of a target, a regular expression that must match the whole text.
 * @throws PatchProblem if it is not one, or could take long to match
 */
function targetPattern(field: string, pattern: string): RegExp {
  const count = (part: RegExp) => pattern.match(part)?.length ?? 0;
  const isSimple =
    PLAIN.test(pattern) &&
    pattern.length <= MOST.characters &&
    !/\)[*+?]|\(\?|\\[^.dw-]|\[\[:/.test(pattern) &&
    count(/[*+?]/g) <= MOST.repetitions &&
    count(/\(/g) <= MOST.groups &&
    count(/\|/g) <= MOST.alternatives;
  if (!isSimple)
    throw new PatchProblem(
      `${field} ${quote(pattern)} is too complex a pattern; use a name, or a form like (source|helm)-controller.*`,
    );
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch {
    throw new PatchProblem(
      `${field} ${quote(pattern)} is not a regular expression; use a name, or a form like .*-controller`,
    );
  }
}
