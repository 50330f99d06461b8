/** The present as the API writes it: whole seconds. */
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
