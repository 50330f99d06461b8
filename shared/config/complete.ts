import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../kube/resource.ts';
import { pullSecretOf } from './defaults.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { installDefaults } from './flux-options.ts';
import type { PlacedTemplate, Template } from './layer.ts';
import { inOrder } from './listed/read-objects.ts';
import type { Merged } from './merge.ts';
import type { Place } from './origins.ts';
import { PULL_SECRET } from './project-config.ts';
import { type ProjectSecrets, wired, wiredInstall } from './project-secrets.ts';
import { resourcesByName, type ShootResources } from './shoot-resources.ts';
import { defaultIntervals } from './templates.ts';
import type { ConfigInputs, CopiedSecret, FluxInstall, FluxOptions, Landscape } from './types.ts';
import { substituted } from './variables.ts';

const NAME = 'flux-system';

/** The ServiceAccounts of the controllers that are administrators of the shoot. */
const ROOT_ACCOUNTS: Readonly<Record<string, string>> = {
  Kustomization: 'kustomize-controller',
  HelmRelease: 'helm-controller',
};

/** A Secret that is copied for a source, and where the template of the source is. */
export interface PlacedSecret {
  secret: CopiedSecret;
  place: Place;
}

/** The configuration with every default filled in, as far as the layers are valid. */
export interface Complete extends Merged {
  flux: FluxInstall;
  source: KubeObject | undefined;
  kustomization: KubeObject | undefined;
  /** The objects besides the root pair, in the order in which they are applied; `origins` has the place of each. */
  objects: KubeObject[];
  /** The credentials of the source. */
  sourceSecret: PlacedSecret | undefined;
  /** The credentials of the other sources. */
  listedSecrets: PlacedSecret[];
  pullSecret: CopiedSecret | undefined;
  shootResources: ShootResources;
}

/** Fills in the defaults, adds references to Secrets of the project, and replaces variables by the values of the Shoot. */
export function completed(
  merged: Merged,
  project: ProjectSecrets,
  { landscape = {}, shoot, shootResources }: Omit<ConfigInputs, 'providerConfig'>,
): Complete {
  const { content, kustomizationFrom } = merged;
  const [rootSource, ...sources] = content.sources ?? [];
  const [root, ...kustomizations] = content.kustomizations ?? [];
  const flux = wiredInstall(completeInstall(content.flux, landscape), project);
  const issues = [...merged.issues];
  let { origins } = merged;
  const finished = (part: string, given: KubeObject): KubeObject => {
    const { object, issues: found } = substituted(part, wired(given, project, flux.namespace), shoot, origins);
    issues.push(...found);
    return object;
  };
  const source = rootSource && finished('source', completeObject(rootSource.template, flux));
  const isFlat = kustomizationFrom.path === '' && isFluxConfigObject(kustomizationFrom.object);
  const rootObject =
    root && source && completeObject(root.template, flux, rootFields(root.template, source, flux, isFlat));
  const kustomization = rootObject && finished('kustomization', rootObject);
  const others = [...sources, ...kustomizations, ...(content.objects ?? [])].filter((one) => one !== undefined);
  const listed = inOrder(
    others.map((one) => {
      const object = completeObject(one.template, flux, defaultSourceRef(one.template, source));
      return { ...one, kind: object.kind, object };
    }),
  );
  origins = { ...origins, ...Object.fromEntries(listed.map(({ place }, index) => [`objects[${index}]`, place])) };
  const [sourceSecret] = source && rootSource ? credentialsOf(source, rootSource) : [];
  // Two sources may read one repository with the same credentials.
  const ofSources = listed
    .flatMap((one) => credentialsOf(one.object, one))
    .filter((one) => !isDeepStrictEqual(one.secret, sourceSecret?.secret));
  const secret = pullSecretOf(landscape.defaults);
  return {
    ...merged,
    flux,
    source,
    kustomization,
    objects: listed.map(({ object }, index) => finished(`objects[${index}]`, object)),
    sourceSecret,
    listedSecrets: [...new Map(ofSources.map((one) => [JSON.stringify(one.secret), one])).values()],
    pullSecret: secret && {
      origin: { type: 'landscape', secret },
      targetName: PULL_SECRET,
      namespace: flux.namespace,
    },
    shootResources: shootResources && resourcesByName(shootResources),
    origins,
    issues,
  };
}

/** Fills in the defaults of the installation. */
function completeInstall(given: FluxOptions, { defaults, policy }: Landscape): FluxInstall {
  const { componentsExtra = [], multiTenancy, ...options } = Object.assign({ ...installDefaults }, given);
  return {
    ...options,
    version: options.version === 'latest' ? undefined : options.version,
    components: [...new Set([...options.components, ...componentsExtra])],
    tolerationKeys: [...new Set(options.tolerationKeys)],
    // Absent where it is off: `false` that is written has the hash of the default.
    ...((multiTenancy ?? policy?.requireMultiTenancy) === true && { multiTenancy: true }),
    ...(pullSecretOf(defaults) !== undefined && { landscapePullSecret: PULL_SECRET }),
  };
}

/** Returns the copy of the credentials of a source, in its namespace, because Flux reads them only there. */
function credentialsOf(source: KubeObject, { secret: origin, place }: PlacedTemplate): PlacedSecret[] {
  const { secretRef } = source.spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return [];
  return [{ place, secret: { origin, targetName: secretRef.name, namespace: source.metadata.namespace ?? '' } }];
}

const HAS_INTERVAL: ReadonlySet<string> = new Set(['GitRepository', 'OCIRepository', 'Bucket', 'Kustomization']);

/**
 * Fills in the defaults of an object.
 * @param more further fields of its `spec`
 */
function completeObject(template: Template, flux: FluxInstall, more: object = {}): KubeObject {
  const { apiVersion = '', kind = 'Kustomization', metadata, spec } = template;
  const namespace = metadata?.namespace ?? flux.namespace;
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata?.name ?? NAME,
      namespace,
      ...(metadata?.labels && { labels: metadata.labels }),
      ...(metadata?.annotations && { annotations: metadata.annotations }),
    },
    spec: {
      ...spec,
      ...(HAS_INTERVAL.has(kind) && { interval: spec.interval ?? defaultIntervals.template }),
      ...(kind === 'Kustomization' && { prune: spec.prune ?? false }),
      ...accountOf(kind, spec, namespace, flux),
      ...more,
    },
  };
}

/**
 * Returns what the root Kustomization gets besides; the missing fields of its sourceRef come from `source`. One with a
 * `decryption` of its own keeps it.
 * @param omitOwnNamespace omits the source's namespace if it is the Kustomization's own, as the first implementation
 *   did: the objects in its Shoots must not change
 */
function rootFields({ metadata, spec }: Template, source: KubeObject, flux: FluxInstall, omitOwnNamespace: boolean) {
  const { name, namespace } = source.metadata;
  const isOwn = namespace === (metadata?.namespace ?? flux.namespace);
  const decrypts = flux.sopsAgeSecret !== undefined && spec.decryption === undefined;
  return {
    sourceRef: {
      kind: source.kind,
      name,
      ...(omitOwnNamespace && isOwn ? {} : { namespace }),
      ...(spec.sourceRef as object | undefined),
    },
    ...(decrypts && { decryption: { provider: 'sops', secretRef: { name: flux.sopsAgeSecret } } }),
  };
}

/** Another Kustomization without a sourceRef reads the source of the root Kustomization. */
function defaultSourceRef({ kind = 'Kustomization', spec }: Template, source: KubeObject | undefined): object {
  if (kind !== 'Kustomization' || spec.sourceRef !== undefined || source === undefined) return {};
  return { sourceRef: { kind: source.kind, name: source.metadata.name, namespace: source.metadata.namespace } };
}

/**
 * With multi-tenancy a Kustomization without an account acts as `default`, which may do nothing. The root Kustomization
 * keeps the rights of its controller, which are in the controller's namespace and in the shoot itself.
 */
function accountOf(
  kind: string,
  { kubeConfig, serviceAccountName: own }: Template['spec'],
  namespace: string,
  flux: FluxInstall,
): { serviceAccountName?: string } {
  const serviceAccountName = ROOT_ACCOUNTS[kind];
  const isOfController = flux.multiTenancy === true && namespace === flux.namespace && kubeConfig === undefined;
  return isOfController && serviceAccountName !== undefined && own === undefined ? { serviceAccountName } : {};
}
