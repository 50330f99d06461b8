import { quote } from '../../config/quote.ts';
import { PatchProblem } from './problem.ts';

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
export function targetPattern(field: string, pattern: string): RegExp {
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
