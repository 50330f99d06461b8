import { ForbiddenError } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';

/** Good, bad, or not known: it could not be seen, or it will be bad soon. */
export type Verdict = '✔' | '✗' | '!';

/** What one check says of one place. */
export interface Finding {
  verdict: Verdict;
  /** Whole, with the object, the place and for anything but `✔` what is wrong. */
  sentence: string;
  /** A command that mends it, or shows more. */
  remedy?: string | undefined;
}

/** A finding with where it belongs, as `doctor` prints it. */
export interface Item extends Finding {
  /** `garden`, the name of a seed, `distribution` or `process`. */
  place: string;
  check: string;
}

/** A cluster that answers. */
export interface Patient {
  /** `garden` or the name of a seed. */
  name: string;
  place: 'garden' | 'seed';
  /** With which kubectl reaches it. */
  flags: readonly string[];
  kube: HttpKubeClient;
  /** The user of the credentials; empty where the API server does not tell. */
  user: string;
}

export const good = (sentence: string): Finding => ({ verdict: '✔', sentence });
export const bad = (sentence: string, remedy?: string): Finding => ({ verdict: '✗', sentence, remedy });
export const unknown = (sentence: string, remedy?: string): Finding => ({ verdict: '!', sentence, remedy });

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Runs one check of a place. What it cannot see is a finding, never an error. */
export async function examined(
  place: string,
  check: string,
  examine: () => Promise<Finding | Finding[]>,
): Promise<Item[]> {
  const findings = await examine().catch(unseen);
  return [findings].flat().map((finding) => ({ place, check, ...finding }));
}

function unseen(error: unknown): Finding {
  const text = describeError(error);
  if (!(error instanceof ForbiddenError)) return unknown(`Not checked, because it could not be read: ${text}`);
  return unknown(
    `Not checked, because ${text.replace(/^.* is forbidden: User/, 'user')}; use the credentials of an operator`,
  );
}
