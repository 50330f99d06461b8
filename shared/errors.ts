/**
 * Base of the errors that this product raises on purpose. The message is one sentence that names the object, the
 * path and the remedy, and never contains the content of a Secret.
 */
export class ShootFluxError extends Error {
  override name = 'ShootFluxError';
}

/** A retry cannot help: the change goes straight to the dead-letter queue with this message as the reason. */
export class TerminalError extends ShootFluxError {
  override name = 'TerminalError';
}

/** Something that this product depends on is not ready yet; the change is retried with back-off. */
export class RetryableError extends ShootFluxError {
  override name = 'RetryableError';
}

/** One mistake in a configuration, in the user's words. */
export interface ConfigIssue {
  /** The object by the user's name for it, for example `ConfigMap garden-foo/flux-config` or `providerConfig`. */
  object: string;
  /** Path inside the object, for example `source.template.spec.url`; empty for the object itself. */
  path: string;
  /** The rest of the sentence after object and path: the problem and the remedy, for example `is missing; set it`. */
  message: string;
  /** The rule of the landscape that refuses it, of its policy or `addons`; absent: it is wrong in every landscape. */
  rule?: string | undefined;
  /** True: another layer may have what is missing here, which admission does not read. */
  mayBeElsewhere?: boolean | undefined;
}

/** The user must correct the configuration. Not retried immediately, and never puts the Shoot into Failed (trap 21). */
export class ConfigError extends ShootFluxError {
  override name = 'ConfigError';
  readonly issues: ConfigIssue[];

  constructor(issues: ConfigIssue[]) {
    super(issuesText(issues));
    this.issues = issues;
  }
}

/** Returns what is read, or the error that says what is wrong with it. */
export function unlessInvalid<T>(read: () => T): T | ConfigError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

/** Returns the sentence of an issue, for example `providerConfig: source.template.kind is missing; …`. */
export function issueText({ object, path, message }: ConfigIssue): string {
  return path === '' ? `${object} ${message}` : `${object}: ${path} ${message}`;
}

/** More issues are only counted: a status has no room for thousands of sentences. */
export const MOST_ISSUES = 20;

/** Joins the sentences of several issues. */
export function issuesText(issues: readonly ConfigIssue[]): string {
  const more = issues.length > MOST_ISSUES ? `; and ${issues.length - MOST_ISSUES} more` : '';
  return `${issues.slice(0, MOST_ISSUES).map(issueText).join('; ')}${more}`;
}

/** Ends the sentences of issues as texts for people end: with a full stop, unless the last one is a question. */
export function withFullStop(sentences: string): string {
  return /[.?]$/.test(sentences) ? sentences : `${sentences}.`;
}

/** Returns the message of any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns why a file or folder cannot be read; clearer than the system's reason for the usual mistakes. */
export function fileProblem(error: unknown, what = 'file'): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return `${what} not found`;
  if (code === 'EISDIR') return 'it is a folder';
  if (code === 'EACCES') return 'permission denied';
  if (code !== 'ENOTDIR') return errorMessage(error);
  return what === 'folder' ? 'it is not a folder' : 'its path leads through a file';
}

/** Marks an error that gardenlet or a user waits for: the next attempt follows within so many seconds. */
export function retryWithin(error: unknown, seconds: number): unknown {
  if (error instanceof Error) Object.assign(error, { retryWithinSeconds: seconds });
  return error;
}

/** Returns the seconds that `retryWithin` has set; undefined if the bridge's back-off applies. */
export function retryWithinSeconds(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryWithinSeconds' in error)) return undefined;
  return typeof error.retryWithinSeconds === 'number' ? error.retryWithinSeconds : undefined;
}
