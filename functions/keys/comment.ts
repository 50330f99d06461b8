/** The project of a garden namespace: Gardener names it `garden-<project>` unless the project chose another one. */
export function projectOf(namespace: string): string {
  return namespace.replace(/^garden-(?=.)/, '');
}

/** What a hosting site shows beside the key; without white space, which some of them cut at. */
export function keyComment(namespace: string, landscape: string): string {
  return `shoot-flux/${landscape.trim().replace(/\s+/g, '-')}/${projectOf(namespace)}`;
}
