import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import { pullSecretOf } from './defaults.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { installDefaults } from './flux-options.ts';
import type { ListedTemplate, Template } from './layer.ts';
import { inOrder } from './listed/read-objects.ts';
import type { Merged } from './merge.ts';
import type { Place } from './origins.ts';
import { PULL_SECRET } from './project-config.ts';
import { type ProjectSecrets, wired, wiredInstall } from './project-secrets.ts';
import { defaultIntervals } from './templates.ts';
import type { ConfigInputs, CopiedSecret, FluxInstall, FluxOptions, Landscape, SecretOrigin } from './types.ts';
import { substituted } from './variables.ts';

const NAME = 'flux-system';

/** The ServiceAccounts of the controllers that are administrators of the shoot. */
const ROOT_ACCOUNTS: Readonly<Record<string, string>> = {
  Kustomization: 'kustomize-controller',
  HelmRelease: 'helm-controller',
};

/** A Secret that is copied for a source of a list, and where the source names it. */
interface ListedSecret {
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
  sourceSecret: CopiedSecret | undefined;
  /** The credentials of the other sources. */
  listedSecrets: ListedSecret[];
  pullSecret: CopiedSecret | undefined;
  shootResources: ConfigInputs['shootResources'];
}

/** Fills in the defaults, adds references to Secrets of the project, and replaces variables by the values of the Shoot. */
export function completed(
  merged: Merged,
  project: ProjectSecrets,
  { landscape = {}, shoot, shootResources }: Omit<ConfigInputs, 'providerConfig'>,
): Complete {
  const { content, kustomizationFrom } = merged;
  const { moreSources = [], moreKustomizations = [], objects: others = [] } = content;
  const flux = wiredInstall(completeInstall(content.flux, landscape), project);
  const issues = [...merged.issues];
  let { origins } = merged;
  const finished = (part: string, given: KubeObject): KubeObject => {
    const { object, issues: found } = substituted(part, wired(given, project, flux.namespace), shoot, origins);
    issues.push(...found);
    return object;
  };
  const source = content.source && finished('source', completeSource(content.source.template, flux.namespace));
  const isFlat = kustomizationFrom.path === '' && isFluxConfigObject(kustomizationFrom.object);
  const root = content.kustomization && source && completeKustomization(content.kustomization, source, flux, isFlat);
  const kustomization = root && finished('kustomization', root);
  const completeOther = ({ template, place }: ListedTemplate) => {
    const object = completeListed(template, flux, source);
    return { kind: object.kind, object, place };
  };
  const listed = inOrder([...moreSources, ...moreKustomizations, ...others].map(completeOther));
  origins = { ...origins, ...Object.fromEntries(listed.map(({ place }, index) => [`objects[${index}]`, place])) };
  const sourceSecret = source && credentialsOf(source, content.source?.secret);
  const ofSources = moreSources.flatMap((one) => {
    const secret = credentialsOf(completeOther(one).object, one.secret);
    // Two sources may read one repository with the same credentials.
    return secret === undefined || isDeepStrictEqual(secret, sourceSecret) ? [] : [{ secret, place: one.place }];
  });
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
    shootResources,
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
function credentialsOf(source: KubeObject, origin: SecretOrigin | undefined): CopiedSecret | undefined {
  const { secretRef } = source.spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return undefined;
  return { origin, targetName: secretRef.name, namespace: source.metadata.namespace ?? '' };
}

/** Fills in the defaults of a source. */
function completeSource(template: Template, fluxNamespace: string): KubeObject {
  return {
    apiVersion: template.apiVersion ?? '',
    kind: template.kind ?? '',
    metadata: completeMetadata(template, fluxNamespace),
    spec: { ...template.spec, interval: template.spec.interval ?? defaultIntervals.template },
  };
}

/**
 * Fills in the defaults of the root Kustomization; the missing fields of its sourceRef come from `source`.
 * @param omitOwnNamespace omits the source's namespace if it is the Kustomization's own, as the first implementation
 *   did: the objects in its Shoots must not change
 */
function completeKustomization(
  template: Template,
  source: KubeObject,
  flux: FluxInstall,
  omitOwnNamespace: boolean,
): KubeObject {
  const { namespace } = source.metadata;
  const isOwn = namespace === completeMetadata(template, flux.namespace).namespace;
  const sourceRef = {
    kind: source.kind,
    name: source.metadata.name,
    ...(omitOwnNamespace && isOwn ? {} : { namespace }),
    ...(template.spec.sourceRef as object | undefined),
  };
  return kustomizationOf(template, flux, { sourceRef }, decryptionOf(template, flux));
}

/** Returns a Kustomization with what every one of them gets. */
function kustomizationOf(template: Template, flux: FluxInstall, source: object, more: object = {}): KubeObject {
  const metadata = completeMetadata(template, flux.namespace);
  return {
    apiVersion: template.apiVersion ?? '',
    kind: 'Kustomization',
    metadata,
    spec: {
      ...template.spec,
      interval: template.spec.interval ?? defaultIntervals.template,
      prune: template.spec.prune ?? false,
      ...source,
      ...accountOf(template, metadata, flux),
      ...more,
    },
  };
}

/**
 * Fills in the defaults of another object than the root pair. A Kustomization without a sourceRef reads the source of the
 * root Kustomization.
 */
function completeListed(template: Template, flux: FluxInstall, source: KubeObject | undefined): KubeObject {
  const { kind = 'Kustomization' } = template;
  if (kind === 'Kustomization') return listedKustomization(template, flux, source);
  const metadata = completeMetadata(template, flux.namespace);
  const spec = { ...template.spec, ...accountOf({ ...template, kind }, metadata, flux) };
  return {
    apiVersion: template.apiVersion ?? '',
    kind,
    metadata,
    spec: DEFAULT_INTERVAL.has(kind)
      ? { ...spec, interval: template.spec.interval ?? defaultIntervals.template }
      : spec,
  };
}

const DEFAULT_INTERVAL: ReadonlySet<string> = new Set(['GitRepository', 'OCIRepository', 'Bucket']);

function listedKustomization(template: Template, flux: FluxInstall, source: KubeObject | undefined): KubeObject {
  if (template.spec.sourceRef !== undefined || source === undefined) return kustomizationOf(template, flux, {});
  const sourceRef = { kind: source.kind, name: source.metadata.name, namespace: source.metadata.namespace };
  return kustomizationOf(template, flux, { sourceRef });
}

/**
 * With multi-tenancy a Kustomization without an account acts as `default`, which may do nothing. The root Kustomization
 * keeps the rights of its controller, which are in the controller's namespace and in the shoot itself.
 */
function accountOf(
  { kind = 'Kustomization', spec }: Template,
  { namespace }: ObjectMeta,
  flux: FluxInstall,
): { serviceAccountName?: string } {
  const account = ROOT_ACCOUNTS[kind];
  const isOfController = flux.multiTenancy === true && namespace === flux.namespace && spec.kubeConfig === undefined;
  return isOfController && account !== undefined && spec.serviceAccountName === undefined
    ? { serviceAccountName: account }
    : {};
}

/** A Kustomization with a `decryption` of its own keeps it. */
function decryptionOf({ spec }: Template, { sopsAgeSecret }: FluxInstall): { decryption?: object } {
  if (sopsAgeSecret === undefined || spec.decryption !== undefined) return {};
  return { decryption: { provider: 'sops', secretRef: { name: sopsAgeSecret } } };
}

function completeMetadata({ metadata }: Template, fluxNamespace: string): ObjectMeta {
  return {
    name: metadata?.name ?? NAME,
    namespace: metadata?.namespace ?? fluxNamespace,
    ...(metadata?.labels && { labels: metadata.labels }),
    ...(metadata?.annotations && { annotations: metadata.annotations }),
  };
}
