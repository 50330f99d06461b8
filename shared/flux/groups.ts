import { inOrder } from '../config/listed/kinds.ts';
import { referencedNames } from '../config/references.ts';
import type { CopiedSecret, EffectiveConfig } from '../config/types.ts';
import { ConfigError, type ConfigIssue, MOST_ISSUES } from '../errors.ts';
import { DELETE_ON_INVALID_UPDATE, KEEP_OBJECT, ONLY_CREATE } from '../gardener/managed-resource.ts';
import { FLUX_VARIABLES } from '../gardener/project-config.ts';
import type { KubeObject } from '../kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../kube/system-namespaces.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import { canBeSuspended, configuredObjects, customResourceIn, isCrd, specIssues } from './custom-resources.ts';
import type { Customisation } from './customisation.ts';
import { isCustomised } from './customise.ts';
import { installObjects } from './install.ts';
import { withProtection } from './protection.ts';
import type { ConfigMapContent, ObjectGroups, RenderInputs, SecretContent } from './release.ts';

/**
 * Labels of copied Secrets and ConfigMaps. The Go extension of the same name sets the first, and its users select by it.
 * With the second, controllers of Flux 2.7 and newer follow a change at once.
 */
const copyLabels = {
  'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux',
  'reconcile.fluxcd.io/watch': 'Enabled',
};

const SKIP_HEALTH_CHECK = 'resources.gardener.cloud/skip-health-check';

/**
 * Returns all objects for the shoot, in one group for each of the four ManagedResources. Pure. No object has the label
 * `no-cleanup`: when the Shoot is deleted, Gardener may delete all of them.
 * @throws ConfigError when the release lacks a component or a kind, or its CRDs reject a template
 */
export function objectGroups(inputs: RenderInputs): ObjectGroups {
  const sync = syncObjects(inputs);
  const copies = [
    ...inputs.secrets.map((secret) => copiedSecret(secret, inputs.config)),
    ...inputs.configMaps.map(copiedConfigMap),
    ...configMaps(inputs),
  ];
  const health = healthFilter(inputs.shootHealth);
  return {
    ...installGroups(inputs),
    secrets: health([...otherNamespaces([...copies, ...sync], inputs.config.flux.namespace), ...copies]),
    sync: health(sync),
  };
}

type InstallGroups = Pick<ObjectGroups, 'crds' | 'controllers'>;

/**
 * By release and options, weighed in characters: the options once for each object, because a patch can add as much to
 * every one. Options without patches weigh 60,000; the heaviest that are allowed weigh more than fits, and are kept only
 * until the next are rendered.
 */
const rendered = createRecentlyUsed<InstallGroups>(6_000_000);

/**
 * Returns the same arrays for all Shoots with the same options, so that callers can cache by them what they derive (JSON,
 * hash, compressed content).
 */
function installGroups(inputs: RenderInputs): InstallGroups {
  return rendered.get(installKey(inputs)) ?? keepInstall(inputs, customisedObjects(inputs));
}

/**
 * Renders the installation before `objectGroups` needs it, if its options can make that long: others get their turn
 * meanwhile.
 * @throws ConfigError as `objectGroups` does
 */
export async function prepareInstall(inputs: RenderInputs): Promise<void> {
  if (inputs.customise === undefined || rendered.get(installKey(inputs)) !== undefined) return;
  const { customiseInTurns } = await import('./custom/all.ts');
  keepInstall(inputs, await customiseInTurns(plainObjects(inputs), customisationOf(inputs)));
}

function installKey({ config, release, ownsNamespace, shootHealth, customise, policy }: RenderInputs): string {
  const options = [config.flux, ownsNamespace, shootHealth, customise && policy];
  return JSON.stringify([release.version, release.digest, ...options]);
}

function keepInstall(inputs: RenderInputs, install: KubeObject[]): InstallGroups {
  const groups = renderInstall(install, inputs.ownsNamespace, inputs.shootHealth);
  const key = installKey(inputs);
  rendered.set(key, groups, key.length * install.length);
  return groups;
}

/** Returns the objects of `flux install`, changed by the options that it does not have. */
function customisedObjects(inputs: RenderInputs): KubeObject[] {
  const { config, customise } = inputs;
  const objects = plainObjects(inputs);
  if (customise === undefined && isCustomised(config.flux)) {
    throw new Error('the code for these options is not loaded');
  }
  return customise?.(objects, customisationOf(inputs)) ?? objects;
}

function plainObjects({ config, release }: RenderInputs): KubeObject[] {
  return installObjects(release, config.flux, config.origins);
}

function customisationOf({ config, release, policy }: RenderInputs): Customisation {
  return { install: config.flux, version: release.version, origins: config.origins, policy };
}

function renderInstall(install: KubeObject[], ownsNamespace: boolean, shootHealth: boolean): InstallGroups {
  const installed = install.map(withProtection);
  const namespace = installed.filter(({ kind }) => kind === 'Namespace' && ownsNamespace).map(withKeepObject);
  const health = healthFilter(shootHealth);
  return {
    // Removing a component must not delete its CRDs, and with them the custom resources of the user.
    crds: health([...namespace, ...installed.filter(isCrd).map(withKeepObject)]),
    controllers: health(
      installed.filter((object) => object.kind !== 'Namespace' && !isCrd(object)).map(withLastingClaim),
    ),
  };
}

/**
 * Marks a PersistentVolumeClaim. The resource-manager replaces objects as a whole, which the API server refuses for a
 * claim that is bound. And it deletes first, and waits: a claim is only gone when no Pod uses it any more.
 */
function withLastingClaim(object: KubeObject): KubeObject {
  return object.kind === 'PersistentVolumeClaim' ? annotated(withKeepObject(object), ONLY_CREATE) : object;
}

function healthFilter(shootHealth: boolean): (objects: KubeObject[]) => KubeObject[] {
  return (objects) => (shootHealth ? objects : objects.map(withoutHealthCheck));
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

/**
 * Returns the copy of a Secret. A Secret's type is immutable, so the resource-manager recreates one whose type changes.
 * With sync mode Once the source is released after the first success, so its credentials must stay, too, like those of
 * the other objects. Flux itself is also released with ManifestsOnly, and pulls its images whenever a Pod moves.
 */
function copiedSecret(
  { name, namespace, type, labels, data }: SecretContent,
  { flux, syncMode, source, kustomization, sourceSecret, additionalSecrets, objects }: EffectiveConfig,
) {
  const metadata = { name, namespace, labels: { ...labels, ...copyLabels } };
  const plain = { apiVersion: 'v1', kind: 'Secret', metadata, type, data };
  const secret = annotated(plain, DELETE_ON_INVALID_UPDATE);
  const isIt = (copy: CopiedSecret | undefined) => copy?.targetName === name && copy.namespace === namespace;
  // Variables of a project are optional, so that nothing fails without them.
  const isOfProject =
    name !== FLUX_VARIABLES && additionalSecrets.some((copy) => copy.origin.type === 'project' && isIt(copy));
  const users = [...objects, ...(isOfProject ? [source, kustomization] : [])];
  const isOfSource =
    isIt(sourceSecret) ||
    users.some((user) => user?.metadata.namespace === namespace && referencedNames(user).Secret.has(name));
  const isOfImages = isOfProject && name === flux.imagePullSecret && namespace === flux.namespace;
  const isKept = (isOfSource && syncMode === 'Once') || (isOfImages && syncMode !== 'Reconcile');
  return isKept ? withKeepObject(secret) : secret;
}

/** Returns the copy of a ConfigMap. It is never `immutable`, because the original may be recreated with new content. */
function copiedConfigMap({ name, namespace, data, binaryData }: ConfigMapContent): KubeObject {
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: copyLabels } },
    ...(data && { data }),
    ...(binaryData && { binaryData }),
  };
}

function configMaps({ config, shoot }: RenderInputs): KubeObject[] {
  const { namespace } = config.flux;
  const configMap = (name: string, data: Record<string, string>) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: copyLabels } },
    data,
  });
  return [configMap('shoot-info', { ...shoot.info }), configMap('shoot-facts', shoot.facts)];
}

/** Returns the other namespaces of our objects: they are created if missing and never deleted. */
function otherNamespaces(objects: KubeObject[], fluxNamespace: string): KubeObject[] {
  const names = new Set(objects.map(({ metadata }) => metadata.namespace ?? fluxNamespace));
  return [...names]
    .filter((name) => name !== fluxNamespace && !SYSTEM_NAMESPACES.includes(name))
    .sort()
    .map((name) => withKeepObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
}

/**
 * Keeps an object in the shoot when it leaves its ManagedResource. Must not be combined with
 * `resources.gardener.cloud/ignore`: the resource-manager reads `keep-object` from the live object and would then never
 * write it to an existing Namespace.
 */
function withKeepObject(object: KubeObject): KubeObject {
  return annotated(object, KEEP_OBJECT);
}

function withoutHealthCheck(object: KubeObject): KubeObject {
  return annotated(object, SKIP_HEALTH_CHECK);
}

function annotated(object: KubeObject, annotation: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [annotation]: 'true' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
