import type { Remedies } from './remedies.ts';

/** One kind of failure: how Flux words it, and what to tell of it. */
export interface Failure {
  /** Reason of the condition. */
  reason: string;
  /** Kinds of objects; absent: every kind of the table. */
  kinds?: readonly string[];
  matches: RegExp;
  /** What is wrong, and what mends it: the two halves of a sentence. */
  says(found: RegExpExecArray, remedies: Remedies): [what: string, remedy: string];
  /** Nobody has to mend anything: it waits for something else, or Flux tries again. */
  isTransient?: true;
}
