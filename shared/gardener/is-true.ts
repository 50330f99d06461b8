/** Parses an annotation as Gardener does, with Go's notations of a boolean. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value);
}
