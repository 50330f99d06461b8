/** Kubernetes objects may hold such a text, too; it then counts as oversized, which concerns only its author. */
const MARK = '\u0000oversized ';

/** Returns the text that replaces a part of an object with too many values; it differs when the part differs. */
export function oversizedMark(digest: string): string {
  return MARK + digest;
}

/** True for a value, or a key, in place of a part that was not read. It must never count as absent. */
export function isOversized(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(MARK);
}
