import { LRUCache } from 'lru-cache';
import { configuredObjects } from '../config/listed/links.ts';
import { inOrder } from '../config/listed/read-objects.ts';
import { secretUses } from '../config/listed/secret-uses.ts';
import { FLUX_VARIABLES } from '../config/project-config.ts';
import type { CopiedSecret, EffectiveConfig } from '../config/types.ts';
import { ConfigError, type ConfigIssue, MOST_ISSUES } from '../errors.ts';
import { canBeSuspended, customResourceIn, isCrd, specIssues } from '../flux/custom-resources.ts';
import { customise } from '../flux/customise.ts';
import { installObjects, withProtection } from '../flux/install.ts';
import type { ConfigMapContent, ObjectGroups, RenderInputs, SecretContent } from '../flux/release.ts';
import type { KubeObject } from '../kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../kube/resource.ts';
import { DELETE_ON_INVALID_UPDATE, KEEP_OBJECT, ONLY_CREATE } from './managed-resource.ts';

/**
 * Labels of Secrets and ConfigMaps. The Go extension of the same name sets the first, and its users select by it. With the
 * second, controllers of Flux 2.7 and newer follow a change at once.
 */
const copyLabels = {
  'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux',
  'reconcile.fluxcd.io/watch': 'Enabled',
};

/**
 * Returns all objects for the shoot, in one group for each of the four ManagedResources. No object has the label
 * `no-cleanup`: when the Shoot is deleted, Gardener may delete all of them.
 * @throws ConfigError when the release lacks a component or a kind, its CRDs reject a template, or a patch cannot be applied
 */
export function objectGroups(inputs: RenderInputs): ObjectGroups {
  const { config, shootHealth } = inputs;
  const sync = syncObjects(inputs);
  const copies = [...copiedSecrets(inputs), ...[...inputs.configMaps, ...factsOfShoot(inputs)].map(configMap)];
  const secrets = [...otherNamespaces([...copies, ...sync], config.flux.namespace), ...copies];
  return {
    ...installGroups(inputs),
    secrets: withHealthMark(secrets, shootHealth),
    sync: withHealthMark(sync, shootHealth),
  };
}

/**
 * Returns source, root Kustomization and the other objects for Flux in the API versions of the release, suspended if the
 * configuration says so.
 */
function syncObjects({ config, release }: RenderInputs): KubeObject[] {
  const parts = configuredObjects(config).map(({ part, object }) => {
    const resource = customResourceIn(release, config, object, part);
    return { part, object, resource };
  });
  const issues: ConfigIssue[] = [];
  for (const { part, object, resource } of parts) {
    // No sentence has room for more, and each costs a search for the nearest name.
    if (issues.length >= MOST_ISSUES) break;
    issues.push(...specIssues(part, resource, object, config.origins));
  }
  if (issues.length > 0) throw new ConfigError(issues);
  const objects = parts.map(({ part, object, resource }) => ({
    ...object,
    apiVersion: resource.apiVersion,
    ...(config.suspend &&
      (!part.startsWith('objects[') || canBeSuspended(resource)) && {
        spec: { ...(object.spec as object), suspend: true },
      }),
  }));
  return config.objects.length === 0 ? objects : inOrder(objects);
}

function copiedSecrets({ secrets, config }: RenderInputs): KubeObject[] {
  // Read once for all copies: the objects may have thousands of fields.
  const used = {
    byObjects: secretsUsedBy(config.objects),
    byRoots: secretsUsedBy([config.source, config.kustomization]),
  };
  return secrets.map((secret) => copiedSecret(secret, config, used));
}

/** Returns what objects refer to, as `Secret namespace/name`. */
function secretsUsedBy(users: readonly (KubeObject | undefined)[]): Set<string> {
  const used = users.flatMap((user) =>
    (user === undefined ? [] : secretUses(user)).map(({ kind, name }) => `${kind} ${user?.metadata.namespace}/${name}`),
  );
  return new Set(used);
}

/**
 * Returns the copy of a Secret. A Secret's type is immutable, so the resource-manager recreates one whose type changes.
 * With sync mode Once the source is released after the first success, so its credentials must stay, too, like those of
 * the other objects. Flux itself is also released with ManifestsOnly, and pulls its images whenever a Pod moves.
 */
function copiedSecret(
  { name, namespace, type, labels, data }: SecretContent,
  { flux, syncMode, sourceSecret, additionalSecrets }: EffectiveConfig,
  used: Record<'byObjects' | 'byRoots', ReadonlySet<string>>,
) {
  const metadata = { name, namespace, labels: { ...labels, ...copyLabels } };
  const plain = { apiVersion: 'v1', kind: 'Secret', metadata, type, data };
  const secret = annotated(plain, DELETE_ON_INVALID_UPDATE);
  const isIt = (copy: CopiedSecret | undefined) => copy?.targetName === name && copy.namespace === namespace;
  // Variables of a project are optional, so that nothing fails without them.
  const isOfProject =
    name !== FLUX_VARIABLES && additionalSecrets.some((copy) => copy.origin.type === 'project' && isIt(copy));
  const place = `Secret ${namespace}/${name}`;
  const isOfSource = isIt(sourceSecret) || used.byObjects.has(place) || (isOfProject && used.byRoots.has(place));
  const isOfImages = isOfProject && name === flux.imagePullSecret && namespace === flux.namespace;
  const isKept = (isOfSource && syncMode === 'Once') || (isOfImages && syncMode !== 'Reconcile');
  return isKept ? withKeepObject(secret) : secret;
}

/** Returns a ConfigMap. It is never `immutable`, because the original may be recreated with new content. */
function configMap({ name, namespace, data, binaryData }: ConfigMapContent): KubeObject {
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: copyLabels } },
    ...(data && { data }),
    ...(binaryData && { binaryData }),
  };
}

function factsOfShoot({ config, shoot }: RenderInputs): ConfigMapContent[] {
  const { namespace } = config.flux;
  return [
    { name: 'shoot-info', namespace, data: shoot.info },
    { name: 'shoot-facts', namespace, data: shoot.facts },
  ];
}

/** Returns the other namespaces of our objects: they are created if missing and never deleted. */
function otherNamespaces(objects: KubeObject[], fluxNamespace: string): KubeObject[] {
  const names = new Set(objects.map(({ metadata }) => metadata.namespace ?? fluxNamespace));
  return [...names]
    .filter((name) => name !== fluxNamespace && !SYSTEM_NAMESPACES.includes(name))
    .sort()
    .map((name) => withKeepObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
}

/** The objects that install Flux. */
type InstallGroups = Pick<ObjectGroups, 'crds' | 'controllers'>;

/** By release and options, weighed in bytes. It has room for a hundred sets of options without patches. */
const rendered = new LRUCache<string, InstallGroups>({ maxSize: 12_000_000 });

/**
 * Measured: 900 without patches, with its part of the compressed content, because objects share with the release what no
 * option changes.
 */
const BYTES_OF_OBJECT = 2000;

/** Measured: up to 4, for each character of JSON that patches add, in objects with a thousand short fields. */
const BYTES_OF_CHARACTER = 8;

/**
 * Renders the installation. Returns the same arrays for all Shoots with the same options, so that callers can cache by
 * them what they derive (JSON, hash, compressed content).
 * @throws ConfigError when the release lacks a component, or a patch cannot be applied
 */
export function installGroups({ config, release, policy, ownsNamespace, shootHealth }: RenderInputs): InstallGroups {
  const { flux: install, origins } = config;
  // The policy judges what patches make.
  const options = [install, ownsNamespace, shootHealth, install.patches && policy];
  const key = JSON.stringify([release.version, release.digest, ...options]);
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const plain = installObjects(release, install, origins);
  const { objects, added } = customise(plain, { install, version: release.version, origins, policy });
  const groups = grouped(objects, ownsNamespace, shootHealth);
  const size = key.length + objects.length * BYTES_OF_OBJECT + Math.max(0, added) * BYTES_OF_CHARACTER;
  rendered.set(key, groups, { size });
  return groups;
}

function grouped(objects: KubeObject[], ownsNamespace: boolean, shootHealth: boolean): InstallGroups {
  const installed = objects.map(withProtection);
  const namespace = installed.filter(({ kind }) => kind === 'Namespace' && ownsNamespace).map(withKeepObject);
  // Removing a component must not delete its CRDs, and with them the custom resources of the user.
  const crds = [...namespace, ...installed.filter(isCrd).map(withKeepObject)];
  const controllers = installed.filter((object) => object.kind !== 'Namespace' && !isCrd(object)).map(withLastingClaim);
  return { crds: withHealthMark(crds, shootHealth), controllers: withHealthMark(controllers, shootHealth) };
}

/**
 * Marks a PersistentVolumeClaim. The resource-manager replaces objects as a whole, which the API server refuses for a
 * claim that is bound. And it deletes first, and waits: a claim is only gone when no Pod uses it any more.
 */
function withLastingClaim(object: KubeObject): KubeObject {
  return object.kind === 'PersistentVolumeClaim' ? annotated(withKeepObject(object), ONLY_CREATE) : object;
}

const SKIP_HEALTH_CHECK = 'resources.gardener.cloud/skip-health-check';

/**
 * Keeps an object in the shoot when it leaves its ManagedResource. Must not be combined with
 * `resources.gardener.cloud/ignore`: the resource-manager reads `keep-object` from the live object and would then never
 * write it to an existing Namespace.
 */
function withKeepObject(object: KubeObject): KubeObject {
  return annotated(object, KEEP_OBJECT);
}

/** Marks objects as not counting for the Shoot's health. @param shootHealth true: they count, and get no mark */
function withHealthMark(objects: KubeObject[], shootHealth: boolean): KubeObject[] {
  return shootHealth ? objects : objects.map((object) => annotated(object, SKIP_HEALTH_CHECK));
}

/** Sets an annotation of the resource-manager to `true`. */
export function annotated(object: KubeObject, annotation: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [annotation]: 'true' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
