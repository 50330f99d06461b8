/** Kubernetes names have no `/`, on which the text of a key relies, and are ASCII: SQS rejects some other characters. */
export const namePattern = /^[!-.0-~]{1,253}$/;

/** True for what a change can carry as a name, a uid or a version. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && namePattern.test(value);
}
