import { knownHostsLimits } from '../ssh/known-hosts.ts';
import { quote } from './quote.ts';
import { type JsonObject, valueAt } from './values.ts';

/** A limit on what projects may write. It is checked before the work that it bounds. */
export interface Limit {
  most: number;
  /** What is counted, after the number: `at most 100 entries`. */
  unit: string;
  /** Where it applies, as Markdown. */
  of: string;
  why: string;
}

/**
 * All limits on the configuration, listed in docs/configuration.md. One process serves every project; the figures leave room
 * for any real use.
 */
export const limits = {
  configuration: {
    most: 128,
    unit: 'KiB',
    of: 'all keys and values of the ConfigMap `flux-config`; all of a `providerConfig`; all `addons` of a landscape',
    why: 'read while an API server waits for the answer',
  },
  depth: {
    most: 64,
    unit: 'levels',
    of: 'objects and lists inside each other',
    why: 'no object of Flux is deeper than 20',
  },
  nodes: {
    most: 5000,
    unit: 'values',
    of: 'a `providerConfig`, or the `addons` of a landscape, with every object, list and field',
    why: 'each of them is checked against the schemas',
  },
  key: {
    most: 320,
    unit: 'characters',
    of: 'one key in a `providerConfig`',
    why: 'the resource-manager cannot read keys of 1,024 characters, and the longest label key has 317',
  },
  text: {
    most: 4096,
    unit: 'characters',
    of: 'one value that is checked, such as a name, URL or version',
    why: 'regular expressions read it',
  },
  list: {
    most: 100,
    unit: 'entries',
    of: '`components`, `componentsExtra`, `tolerationKeys`, `featureGates`, `nodeSelector`, labels and annotations of a template and of `commonMetadata`, `additionalSecretResources`; keys of `flux-config`',
    why: 'each entry is compared with the others, or copied into the shoot',
  },
  comparisons: {
    most: 20,
    unit: 'comparisons',
    of: 'a range of Flux releases',
    why: 'each is compared with every release, and with the policy',
  },
  metadata: {
    most: 8,
    unit: 'KiB',
    of: 'all labels and annotations of `commonMetadata`',
    why: 'each object of the installation gets them',
  },
  patches: {
    most: 32,
    unit: 'entries',
    of: '`patches`',
    why: 'each is compared with every object of the installation',
  },
  patch: { most: 16, unit: 'KiB', of: 'one patch', why: 'it is parsed at each reconciliation' },
  patched: {
    most: 512,
    unit: 'KiB',
    of: 'what patches add to all objects of the installation',
    why: 'the objects are one Secret in the seed',
  },
  shards: { most: 16, unit: 'entries', of: '`sharding.shards`', why: 'each has up to four Deployments' },
  objects: {
    most: 100,
    unit: 'objects',
    of: 'all entries of `sources`, `kustomizations` and `objects` besides the root Kustomization and its source, and what `addons` bring',
    why: 'each is read from the shoot whenever its health is checked',
  },
  yaml: {
    most: 64,
    unit: 'KiB',
    of: '`config.yaml` and `overrides.yaml`, each; all patches together',
    why: 'the parser reads the whole text',
  },
  yamlRare: {
    most: 200,
    unit: 'characters of ?, !, & and *',
    of: '`config.yaml` and `overrides.yaml`, each; all patches together',
    why: 'some short texts with them take minutes to parse',
  },
  knownHosts: { most: knownHostsLimits.kib, unit: 'KiB', of: '`knownHosts`', why: 'each line is decoded' },
  hostKeys: {
    most: knownHostsLimits.lines,
    unit: 'lines',
    of: '`knownHosts`',
    why: 'each line is compared with the host of the repository',
  },
  hosts: {
    most: knownHostsLimits.patterns,
    unit: 'hosts',
    of: 'one line of `knownHosts`',
    why: 'each is a pattern for the host of the repository',
  },
  copies: {
    most: 1280,
    unit: 'KiB',
    of: 'all Secrets and ConfigMaps that are copied into one Shoot, each copy counted, Secrets in base64',
    why: 'they are one Secret in the seed, which holds 1 MiB when it is compressed',
  },
} as const satisfies Record<string, Limit>;

/** Returns a limit for a sentence: `128 KiB`, `5,000 values`. */
export function limitText({ most, unit }: Limit): string {
  return `${most.toLocaleString('en')} ${unit}`;
}

/** More issues of one part are not reported; they appear once the first ones are fixed. */
export const MOST_ISSUES_OF_A_PART = 20;

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
  return countBelow(value, 0, { characters: 0, nodes: 1 });
}

function countBelow(value: unknown, depth: number, count: Count): string | undefined {
  if (depth > limits.depth.most) return TOO_DEEP;
  if (typeof value === 'string') count.characters += value.length;
  const isList = Array.isArray(value);
  if (isList) count.nodes += value.length;
  const ownProblem = countProblem(count);
  // Before the entries: a list may have half a million.
  if (ownProblem !== undefined || typeof value !== 'object') return ownProblem;
  for (const key in value) {
    if (!isList) {
      count.nodes++;
      count.characters += key.length;
    }
    const inner = (value as JsonObject)[key];
    const problem = keyProblem(key) ?? countProblem(count) ?? countBelow(inner, depth + 1, count);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The sentence for a value that is nested too deeply. */
export const TOO_DEEP = `is nested more than ${limits.depth.most} levels deep; flatten it`;

function countProblem({ characters, nodes }: Count): string | undefined {
  const remedy = 'move long content to the repository';
  if (characters > limits.configuration.most * 1024)
    return `is longer than ${limitText(limits.configuration)}; ${remedy}`;
  if (nodes <= limits.nodes.most) return undefined;
  return `has more than ${limitText(limits.nodes)} in all its objects and lists; ${remedy}`;
}

function keyProblem(key: string): string | undefined {
  // Schemas leave it out of their results, and the object would still have it.
  if (key === '__proto__') return `has the key ${quote(key)}, which is not supported; remove it`;
  // Other characters than ASCII take up to six in the content of a ManagedResource.
  const length = /^[\x20-\x7e]*$/.test(key) ? key.length : key.length * 6;
  if (length <= limits.key.most) return undefined;
  return `has the key ${quote(key)}, which is longer than ${limitText(limits.key)}; use a shorter one`;
}

/** The lists of a providerConfig, by their paths. */
const bounded = [
  ...['flux.components', 'flux.componentsExtra', 'flux.tolerationKeys', 'additionalSecretResources'],
  ...['sources', 'kustomizations', 'objects', 'addons', 'existingSecrets', 'existingConfigMaps'],
];

/** Returns the lists of a providerConfig with too many entries, by path: nothing of them is read. */
export function listProblems(config: unknown): { path: string; message: string }[] {
  return bounded.flatMap((path) => {
    const list = valueAt(config, path);
    if (!Array.isArray(list) || list.length <= limits.list.most) return [];
    return [{ path, message: entriesProblem(list.length) }];
  });
}

/** The sentence for a list or map with too many entries. */
export function entriesProblem(entries: number, { most }: Limit = limits.list): string {
  return `has ${entries.toLocaleString('en')} entries; use at most ${most}`;
}
