import { knownHostsLimits } from '../ssh/known-hosts.ts';

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
 * All limits on the configuration, listed in docs/configuration.md. One process serves every project, so the longest
 * valid input must be checked, merged and rendered in less than 50 ms; the figures leave room for any real use.
 */
export const limits = {
  configuration: {
    most: 128,
    unit: 'KiB',
    of: 'all keys and values of the ConfigMap `flux-config`; all of a `providerConfig`',
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
    of: 'a `providerConfig`, with every object, list and field',
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
    of: '`components`, `componentsExtra`, `tolerationKeys`, `nodeSelector`, labels and annotations of a template and of `commonMetadata`, `additionalSecretResources`; keys of `flux-config`',
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
    of: 'all entries of `sources`, `kustomizations` and `objects` besides the root Kustomization and its source',
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
  copiedKeys: {
    most: 10_000,
    unit: 'keys',
    of: 'the same, each copy counted',
    why: 'they are sorted at each reconciliation',
  },
} as const satisfies Record<string, Limit>;

/** Returns a limit for a sentence: `128 KiB`, `5,000 values`. */
export function limitText({ most, unit }: Limit): string {
  return `${withCommas(most)} ${unit}`;
}

/** Formats a number: `5,000`. */
export function withCommas(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** More issues of one part are not reported; they appear once the first ones are fixed. */
export const MOST_ISSUES_OF_A_PART = 20;
