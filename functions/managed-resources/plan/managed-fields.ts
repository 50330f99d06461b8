type Tree = Record<string, unknown>;

/** Deeper than the fields of any kind of Flux; an owner of a shoot may nest fields until the stack ends. */
const DEEPEST = 50;

/** Joins two trees of `managedFields`, so that the fields of both have one owner. */
export function union(one: Tree = {}, other: Tree = {}, depth = 0): Tree {
  if (depth > DEEPEST) return one;
  const all = { ...one };
  for (const [field, inner] of Object.entries(other)) {
    const known = all[field];
    all[field] = known === undefined ? inner : union(known as Tree, inner as Tree, depth + 1);
  }
  return all;
}
