import { isOversized } from '../oversized.ts';
import { limits, limitText, withCommas } from './limits.ts';
import { quote } from './quote.ts';
import { asObject } from './values.ts';

/** What has been counted of a value so far. */
interface Count {
  characters: number;
  nodes: number;
}

/**
 * Returns why a value is too large to validate; undefined when it is not. Users can put a megabyte into a Shoot, so the
 * count ends at the first limit that is exceeded.
 */
export function sizeProblem(value: unknown): string | undefined {
  const count: Count = { characters: 0, nodes: 1 };
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limits.depth.most) return `is nested more than ${limits.depth.most} levels deep; flatten it`;
    const below: unknown[] = [];
    for (const item of level) {
      const problem = countItem(item, count, below);
      if (problem !== undefined) return problem;
    }
    level = below;
  }
  return undefined;
}

function countItem(item: unknown, count: Count, below: unknown[]): string | undefined {
  if (isOversized(item)) return nodesProblem();
  if (typeof item === 'string') count.characters += item.length;
  if (Array.isArray(item)) {
    count.nodes += item.length;
    // The limit is checked first: a list may have half a million entries.
    if (count.nodes <= limits.nodes.most) below.push(...item);
    return countProblem(count);
  }
  const object = asObject(item) ?? {};
  for (const key in object) {
    if (isOversized(key)) return nodesProblem();
    if (escapedLength(key) > limits.key.most) return keyProblem(key);
    count.nodes++;
    count.characters += key.length;
    const problem = countProblem(count);
    if (problem !== undefined) return problem;
    below.push(object[key]);
  }
  return countProblem(count);
}

function countProblem({ characters, nodes }: Count): string | undefined {
  if (characters > limits.configuration.most * 1024) return configurationProblem();
  return nodes > limits.nodes.most ? nodesProblem() : undefined;
}

function nodesProblem(): string {
  return `has more than ${limitText(limits.nodes)} in all its objects and lists; move long content to the repository`;
}

/** The sentence for a configuration that is too long. */
export function configurationProblem(): string {
  return `is longer than ${limitText(limits.configuration)}; move long content to the repository`;
}

function keyProblem(key: string): string {
  return `has the key ${quote(key)}, which is longer than ${limitText(limits.key)}; use a shorter one`;
}

/** Other characters than ASCII take up to six in the content of a ManagedResource. */
function escapedLength(key: string): number {
  return /^[\x20-\x7e]*$/.test(key) ? key.length : key.length * 6;
}

/** Lists and maps of a providerConfig with a limit of their own, by their paths. */
const bounded: readonly (readonly string[])[] = [
  ['flux', 'components'],
  ['flux', 'componentsExtra'],
  ['flux', 'tolerationKeys'],
  ['additionalSecretResources'],
  ['sources'],
  ['kustomizations'],
  ['objects'],
  ['existingSecrets'],
  ['existingConfigMaps'],
  ...['source', 'kustomization'].flatMap((part) =>
    ['labels', 'annotations'].map((map) => [part, 'template', 'metadata', map]),
  ),
  ['kustomization', 'patch', 'metadata', 'labels'],
  ['kustomization', 'patch', 'metadata', 'annotations'],
];

/** Returns the lists and maps of a providerConfig with too many entries, by path. */
export function listProblems(config: unknown): { path: string; message: string }[] {
  return bounded.flatMap((path) => tooMany(config, path));
}

/** Returns the same for an entry of `sources`, `kustomizations` or `objects`. */
export function metadataProblems(template: unknown): { path: string; message: string }[] {
  return ['labels', 'annotations'].flatMap((map) => tooMany(template, ['metadata', map]));
}

function tooMany(object: unknown, path: readonly string[]): { path: string; message: string }[] {
  const value = path.reduce<unknown>((inner, field) => asObject(inner)?.[field], object);
  const entries = Array.isArray(value) ? value.length : Object.keys(asObject(value) ?? {}).length;
  return entries > limits.list.most ? [{ path: path.join('.'), message: entriesProblem(entries) }] : [];
}

/** The sentence for a list with too many entries. */
export function entriesProblem(entries: number): string {
  return `has ${withCommas(entries)} entries; use at most ${limits.list.most}`;
}
