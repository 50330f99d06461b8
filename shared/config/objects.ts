import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import type { Template } from './layer.ts';
import { defaultIntervals } from './templates.ts';
import type { FluxInstall } from './types.ts';

const NAME = 'flux-system';

/** The ServiceAccounts of the controllers that are administrators of the shoot. */
const ROOT_ACCOUNTS: Readonly<Record<string, string>> = {
  Kustomization: 'kustomize-controller',
  HelmRelease: 'helm-controller',
};

/** Fills in the defaults of a source. */
export function completeSource(template: Template, fluxNamespace: string): KubeObject {
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
export function completeKustomization(
  template: Template,
  source: KubeObject,
  flux: FluxInstall,
  omitOwnNamespace: boolean,
): KubeObject {
  const metadata = completeMetadata(template, flux.namespace);
  const sourceRef = (template.spec.sourceRef ?? {}) as Record<string, unknown>;
  const namespace = source.metadata.namespace;
  return {
    apiVersion: template.apiVersion ?? '',
    kind: 'Kustomization',
    metadata,
    spec: {
      ...template.spec,
      interval: template.spec.interval ?? defaultIntervals.template,
      prune: template.spec.prune ?? false,
      sourceRef: {
        kind: source.kind,
        name: source.metadata.name,
        ...(omitOwnNamespace && namespace === metadata.namespace ? {} : { namespace }),
        ...sourceRef,
      },
      ...accountOf(template, metadata, flux),
      ...decryptionOf(template, flux),
    },
  };
}

/**
 * Fills in the defaults of another object than the root pair. A Kustomization without a sourceRef reads the source of the
 * root Kustomization.
 */
export function completeListed(template: Template, flux: FluxInstall, source: KubeObject | undefined): KubeObject {
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
  const metadata = completeMetadata(template, flux.namespace);
  const sourceRef = source && { kind: source.kind, name: source.metadata.name, namespace: source.metadata.namespace };
  return {
    apiVersion: template.apiVersion ?? '',
    kind: 'Kustomization',
    metadata,
    spec: {
      ...template.spec,
      interval: template.spec.interval ?? defaultIntervals.template,
      prune: template.spec.prune ?? false,
      ...(template.spec.sourceRef === undefined && sourceRef && { sourceRef }),
      ...accountOf(template, metadata, flux),
    },
  };
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
