import type { EffectiveConfig } from '../config/effective.ts';
import { ConfigError } from '../errors.ts';
import { DELETE_ON_INVALID_UPDATE, KEEP_OBJECT } from '../gardener/managed-resource.ts';
import type { KubeObject } from '../kube/resource.ts';
import { SYSTEM_NAMESPACES } from '../kube/system-namespaces.ts';
import { customResourceIn, isCrd, specIssues } from './custom-resources.ts';
import { installObjects } from './install.ts';
import type { ConfigMapMaterial, ObjectGroups, Release, RenderInputs, SecretMaterial } from './release.ts';

/** On copied Secrets and ConfigMaps, as the Go extension of the same name puts it: its users select by it. */
const managedBy = { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' };

const SKIP_HEALTH_CHECK = 'resources.gardener.cloud/skip-health-check';

/**
 * Pure: everything that goes into the shoot, in the groups of the four ManagedResources. No object carries
 * `no-cleanup`: on a Shoot's deletion Gardener may clean all of them.
 * @throws ConfigError when the release lacks a component or a kind, or would refuse a template
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

/** Of each release; a configuration that nobody has any more must not stay for ever. */
const rendered = new WeakMap<Release, Map<string, InstallGroups>>();
const MOST_RENDERED = 50;

/**
 * Flux itself is the same for all Shoots with the same options: the same arrays, so that whoever makes something of
 * them (text, hash, compressed content) can remember it by them.
 */
function installGroups({ config, release, ownsNamespace, shootHealth }: RenderInputs): InstallGroups {
  const known = rendered.get(release) ?? new Map<string, InstallGroups>();
  rendered.set(release, known);
  const key = JSON.stringify([config.flux, ownsNamespace, shootHealth]);
  const groups =
    known.get(key) ?? renderInstall(installObjects(release, config.flux, config.origins), ownsNamespace, shootHealth);
  if (known.size >= MOST_RENDERED) known.clear();
  known.set(key, groups);
  return groups;
}

function renderInstall(install: KubeObject[], ownsNamespace: boolean, shootHealth: boolean): InstallGroups {
  const namespace = install.filter(({ kind }) => kind === 'Namespace' && ownsNamespace).map(kept);
  const health = healthFilter(shootHealth);
  return {
    // A component that leaves must not take its CRDs along, and with them what the user made of those.
    crds: health([...namespace, ...install.filter(isCrd).map(kept)]),
    controllers: health(install.filter((object) => object.kind !== 'Namespace' && !isCrd(object))),
  };
}

function healthFilter(shootHealth: boolean): (objects: KubeObject[]) => KubeObject[] {
  return (objects) => (shootHealth ? objects : objects.map(withoutHealthCheck));
}

/** Source and root Kustomization in the API versions of the release, suspended where the configuration says so. */
function syncObjects({ config, release }: RenderInputs): KubeObject[] {
  const parts = Object.entries({ source: config.source, kustomization: config.kustomization }).flatMap(
    ([part, object]) => {
      if (object === undefined) return [];
      const resource = customResourceIn(release, config, object.kind);
      return [{ object, resource, issues: specIssues(part, resource, object, config.origins) }];
    },
  );
  const issues = parts.flatMap((part) => part.issues);
  if (issues.length > 0) throw new ConfigError(issues);
  return parts.map(({ object, resource }) => ({
    ...object,
    apiVersion: resource.apiVersion,
    ...(config.suspend && { spec: { ...(object.spec as object), suspend: true } }),
  }));
}

/**
 * A Secret's type cannot be changed: one that comes back with another type is made anew. In mode Once the source stays
 * as it was whatever the configuration says later, and its credentials with it.
 */
function copiedSecret({ name, namespace, type, data }: SecretMaterial, { syncMode, sourceSecret }: EffectiveConfig) {
  const plain = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, labels: managedBy }, type, data };
  const secret = annotated(plain, DELETE_ON_INVALID_UPDATE);
  const isOfSource = sourceSecret?.targetName === name && sourceSecret.namespace === namespace;
  return isOfSource && syncMode === 'Once' ? kept(secret) : secret;
}

/** An original that is `immutable` can be replaced by another one, so its copy is not. */
function copiedConfigMap({ name, namespace, data, binaryData }: ConfigMapMaterial): KubeObject {
  return {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: managedBy } },
    ...(data && { data }),
    ...(binaryData && { binaryData }),
  };
}

function configMaps({ config, shoot }: RenderInputs): KubeObject[] {
  const { namespace } = config.flux;
  const configMap = (name: string, data: Record<string, string>) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: managedBy } },
    data,
  });
  return [configMap('shoot-info', { ...shoot.info }), configMap('shoot-facts', shoot.facts)];
}

/** Namespaces besides the flux namespace that our objects live in: created when missing, never deleted by us. */
function otherNamespaces(objects: KubeObject[], fluxNamespace: string): KubeObject[] {
  const names = new Set(objects.map(({ metadata }) => metadata.namespace ?? fluxNamespace));
  return [...names]
    .filter((name) => name !== fluxNamespace && !SYSTEM_NAMESPACES.includes(name))
    .sort()
    .map((name) => kept({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
}

/**
 * Not together with `resources.gardener.cloud/ignore`: the resource-manager reads this annotation from the live
 * object, and would then never write it to a Namespace that exists.
 */
function kept(object: KubeObject): KubeObject {
  return annotated(object, KEEP_OBJECT);
}

function withoutHealthCheck(object: KubeObject): KubeObject {
  return annotated(object, SKIP_HEALTH_CHECK);
}

function annotated(object: KubeObject, annotation: string): KubeObject {
  const annotations = { ...object.metadata.annotations, [annotation]: 'true' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
