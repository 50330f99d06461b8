import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { OWN_CONFIG_MAPS } from '../additional-secrets.ts';
import { MOST_ISSUES_OF_A_PART } from '../limits.ts';
import { nearest } from '../nearest.ts';
import { issueOf, type Origins } from '../origins.ts';
import { parsePatch } from '../patches/parse.ts';
import { FLUX_REGISTRY, FLUX_REGISTRY_CA } from '../project-config.ts';
import { quote } from '../quote.ts';
import { type CopyKind, copyInShoot } from '../shoot-resources.ts';
import type { Complete, CopiedSecret, FluxInstall, Patch } from '../types.ts';
import { valueAt } from '../values.ts';
import type { Part } from './links.ts';
import { PATCH, secretUses } from './secret-uses.ts';

/**
 * Returns a warning for each Secret and ConfigMap that objects name and nothing brings into the shoot: it is not copied into
 * the namespace of the object, and the configuration does not say that it exists. Without it Flux fails at its first attempt,
 * or silently does without. It is no error, because users may create it there; where all Secrets of the project are given, it
 * is one.
 */
function undelivered(objects: readonly Part[], places: Places, origins: Origins): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const { object, part } of objects) {
    const namespace = object.metadata.namespace ?? '';
    for (const { kind, name, path, isOptional } of secretUses(object)) {
      if (isOptional || mayHave(places, kind, namespace, name)) continue;
      if (issues.length === MOST_ISSUES_OF_A_PART) return issues;
      const message = missing(kind, name, namespace, places[kind]);
      issues.push(issueOf(origins, object.kind === PATCH ? part : `${part}.${path}`, message));
    }
  }
  return issues;
}

/** What is in the shoot, as `namespace/name`. */
interface Places extends Record<CopyKind, Set<string>> {
  /** Namespaces with copies whose names are known only in the landscape. */
  unknownNames: Set<string>;
}

/** Returns where the Secrets and ConfigMaps are that are copied, and those that are said to exist. */
function placesOf({ flux, content, shootResources }: Complete, copies: readonly CopiedSecret[]): Places {
  const { existingSecrets = [], existingConfigMaps = [] } = content;
  const placed = (name: string) => (name.includes('/') ? name : `${flux.namespace}/${name}`);
  const places: Places = {
    Secret: new Set(existingSecrets.map(placed)),
    ConfigMap: new Set([...existingConfigMaps, ...OWN_CONFIG_MAPS].map(placed)),
    unknownNames: new Set(),
  };
  for (const { origin, targetName, namespace } of copies) {
    const { kind, name } = copyInShoot({ origin, targetName }, shootResources);
    if (name === undefined) places.unknownNames.add(namespace);
    else places[kind].add(`${namespace}/${name}`);
    // Without the Shoot, an entry may be of either kind.
    if (name !== undefined && origin.type === 'resource' && shootResources === undefined)
      places.ConfigMap.add(`${namespace}/${name}`);
  }
  return places;
}

/** Returns true if an object is in the shoot, or may be a copy whose name is known only in the landscape. */
function mayHave(places: Places, kind: CopyKind, namespace: string, name: string): boolean {
  return places[kind].has(`${namespace}/${name}`) || places.unknownNames.has(namespace);
}

function missing(kind: CopyKind, name: string, namespace: string, known: ReadonlySet<string>): string {
  const what = `names ${kind} ${quote(name)} in namespace ${namespace}, which is not copied there`;
  if (kind === 'Secret' && name === FLUX_REGISTRY_CA)
    return `${what}; add ca.crt to Secret ${FLUX_REGISTRY} of the project`;
  const names = [...known]
    .filter((one) => one.startsWith(`${namespace}/`))
    .map((one) => one.slice(namespace.length + 1));
  const meant = nearest(name, names);
  return meant === undefined
    ? `${what}; copy it with additionalSecretResources, or list it in existing${kind}s if it comes from elsewhere`
    : `${what}; did you mean ${meant}?`;
}

/**
 * Returns a warning for each Secret or ConfigMap that an option, a patch or an object for Flux names and nothing brings into
 * the shoot.
 * @param objects all objects for Flux
 */
export function secretWarnings(
  config: Complete,
  objects: readonly Part[],
  copies: readonly CopiedSecret[],
): ConfigIssue[] {
  const { flux, kustomization, origins } = config;
  const places = placesOf(config, copies);
  const isUsed = valueAt(kustomization, 'spec.decryption.secretRef.name') === flux.sopsAgeSecret;
  const named = [
    {
      path: 'flux.imagePullSecret',
      name: flux.imagePullSecret,
      namespace: flux.namespace,
      other: `create it in the project under the name ${FLUX_REGISTRY} and omit imagePullSecret, `,
    },
    { path: 'flux.proxy.secretName', name: flux.proxy?.secretName, namespace: flux.namespace },
    {
      path: 'flux.sopsAgeSecret',
      name: isUsed ? flux.sopsAgeSecret : undefined,
      namespace: kustomization?.metadata.namespace ?? flux.namespace,
    },
  ];
  const ofOptions = named.flatMap(({ path, name, namespace, other = '' }) => {
    if (name === undefined || mayHave(places, 'Secret', namespace, name)) return [];
    // The objects that name it need no warning of their own.
    places.Secret.add(`${namespace}/${name}`);
    const message = `${quote(name)} is not copied into the shoot; add it to additionalSecretResources, ${other}or create it in ${namespace} and list it in existingSecrets`;
    return [issueOf(origins, path, message)];
  });
  const ofObjects = undelivered([...objects, ...patchParts(flux)], places, origins);
  return [...ofOptions, ...ofObjects].map((issue) => ({ ...issue, mayBeElsewhere: true }));
}

/**
 * Returns the patches of the installation as objects in the namespace of Flux, whose references are those of any object.
 * A patch that cannot be parsed has an error of its own.
 */
export function patchParts({ patches = [], namespace }: Pick<FluxInstall, 'patches' | 'namespace'>): Part[] {
  return patches.map((patch, index) => {
    const object: KubeObject = {
      apiVersion: '',
      kind: PATCH,
      metadata: { name: '', namespace },
      spec: contentOf(patch),
    };
    return { part: `flux.patches[${index}]`, object };
  });
}

/** Returns what a patch writes, as far as it would have it in an object. */
function contentOf(patch: Patch): object[] {
  try {
    const parsed = parsePatch(patch);
    if ('merges' in parsed) return parsed.merges;
    if ('merge' in parsed) return [parsed.merge];
    return parsed.operations.flatMap((operation) =>
      'value' in operation ? [placed(operation.path.split('/').slice(1), operation.value) as object] : [],
    );
  } catch {
    return [];
  }
}

/** Puts a value below its path: `/volumes/0` is the first entry of a list. */
function placed([name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  return /^(-|\d+)$/.test(name) ? [placed(rest, value)] : { [name]: placed(rest, value) };
}
