import type { Cause } from '../../shared/runtime/change-request.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { keyId } from '../change.ts';

/** A change that was given up: names, numbers and one sentence, never an object. */
export interface DeadLetter {
  function: string;
  key: ReconcileKey;
  /** Why the last run happened. */
  causes: readonly Cause[];
  /** One sentence: the error of the last run. */
  reason: string;
  attempts: number;
  /** When it was first given up, and when last; RFC 3339. */
  since: string;
  last: string;
}

/** The changes that were given up: one for each key of a function, until the key succeeds. */
export type DeadLetters = ReturnType<typeof createDeadLetters>;

/** Each takes about a kilobyte. Where there are more, they have a common reason. */
export const MOST_DEAD_LETTERS = 1000;
const LONGEST_REASON = 1000;

/**
 * Creates an empty list.
 * @param onDrop called when the oldest gives way to a new one
 */
export function createDeadLetters(onDrop: (name: string) => void = () => {}) {
  const letters = new Map<string, DeadLetter>();
  let dropped = 0;

  return {
    add(letter: Omit<DeadLetter, 'since' | 'last'>, at: Date): void {
      const id = keyId(letter);
      const last = at.toISOString();
      const since = letters.get(id)?.since ?? last;
      letters.set(id, { ...letter, reason: letter.reason.slice(0, LONGEST_REASON), since, last });
      if (letters.size <= MOST_DEAD_LETTERS) return;
      const [oldest] = letters;
      if (oldest === undefined) return;
      letters.delete(oldest[0]);
      dropped++;
      onDrop(oldest[1].function);
    },
    /** The key has succeeded. */
    remove: (name: string, key: ReconcileKey) => void letters.delete(keyId({ function: name, key })),
    /** Returns all that are kept, oldest first, and how many were dropped because there were too many. */
    list: (): { deadLetters: DeadLetter[]; dropped: number } => ({ deadLetters: [...letters.values()], dropped }),
  };
}
