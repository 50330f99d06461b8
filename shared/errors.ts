/**
 * Base of the errors that this product raises on purpose. The message is one sentence that names the object, the
 * path and the remedy, and never contains the content of a Secret.
 */
export class ShootFluxError extends Error {
  override name = 'ShootFluxError';
}

/** Trying again cannot help: the change goes straight to the dead-letter queue with this message as the reason. */
export class TerminalError extends ShootFluxError {
  override name = 'TerminalError';
}

/** Something outside is not ready yet; the change is tried again with back-off. */
export class RetryableError extends ShootFluxError {
  override name = 'RetryableError';
}

/** One thing that is wrong with a configuration, in the user's words. */
export interface ConfigIssue {
  /** The object as the user knows it, for example `ConfigMap garden-foo/flux-config` or `providerConfig`. */
  object: string;
  /** Path inside the object, for example `source.template.spec.url`; empty for the object itself. */
  path: string;
  /** One sentence with what is wrong and the remedy, without object and path. */
  message: string;
}

/** The user has to mend the configuration; never retried hot, never fatal for a Shoot (facts: trap 21). */
export class ConfigError extends ShootFluxError {
  override name = 'ConfigError';
  readonly issues: ConfigIssue[];

  constructor(issues: ConfigIssue[]) {
    super(issuesText(issues));
    this.issues = issues;
  }
}

/** The sentence of an issue, for example `providerConfig: source.template.kind: …`. */
export function issueText(issue: ConfigIssue): string {
  return issue.path === '' ? `${issue.object}: ${issue.message}` : `${issue.object}: ${issue.path}: ${issue.message}`;
}

/** How many sentences anybody reads at once; an object's status has no room for thousands of them either. */
export const MOST_ISSUES = 20;

/** The sentences of several issues in one. */
export function issuesText(issues: readonly ConfigIssue[]): string {
  const more = issues.length > MOST_ISSUES ? `; and ${issues.length - MOST_ISSUES} more` : '';
  return `${issues.slice(0, MOST_ISSUES).map(issueText).join('; ')}${more}`;
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Marks an error: somebody waits for this, so the next try comes within so many seconds whatever the back-off. */
export function retryWithin(error: unknown, seconds: number): unknown {
  if (error instanceof Error) Object.assign(error, { retryWithinSeconds: seconds });
  return error;
}

/** What `retryWithin` has marked; undefined: the bridge's own limit. */
export function retryWithinSeconds(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryWithinSeconds' in error)) return undefined;
  return typeof error.retryWithinSeconds === 'number' ? error.retryWithinSeconds : undefined;
}
