import { quote } from '../../config/quote.ts';
import { PatchProblem } from './problem.ts';

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
