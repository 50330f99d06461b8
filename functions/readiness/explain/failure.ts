import type { Remedies } from './remedies.ts';

/** An entry of a failure table: how Flux words the failure, and how the condition explains it. */
export interface Failure {
  /** Reason of the condition. Reasons are API: users and alerts match them. */
  reason: string;
  /** Kinds of objects that the entry applies to; absent: all kinds of the table. */
  kinds?: readonly string[];
  /** Matches the message of Flux. */
  matches: RegExp;
  /** The two halves of the sentence `<object>: <what>; <remedy>.` */
  says(found: RegExpExecArray, remedies: Remedies): [what: string, remedy: string];
  /** No user has to correct anything: Flux waits for another object, or retries. Such failures carry no error code. */
  isTransient?: true;
}
