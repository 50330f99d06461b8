import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import type { Template } from './layer.ts';

const NAME = 'flux-system';
const INTERVAL = '1m';

/** The source of a template with all defaults. */
export function completeSource(template: Template, fluxNamespace: string): KubeObject {
  return {
    apiVersion: template.apiVersion ?? '',
    kind: template.kind ?? '',
    metadata: completeMetadata(template, fluxNamespace),
    spec: { ...template.spec, interval: template.spec.interval ?? INTERVAL },
  };
}

/**
 * The root Kustomization of a template with all defaults; what it leaves open about its source is taken from `source`.
 * @param sparse leaves the source's namespace out where it is the Kustomization's own, as the first implementation
 *   did: its Shoots must not see another object
 */
export function completeKustomization(
  template: Template,
  source: KubeObject,
  fluxNamespace: string,
  sparse: boolean,
): KubeObject {
  const metadata = completeMetadata(template, fluxNamespace);
  const given = (template.spec.sourceRef ?? {}) as Record<string, unknown>;
  const namespace = source.metadata.namespace;
  return {
    apiVersion: template.apiVersion ?? '',
    kind: 'Kustomization',
    metadata,
    spec: {
      ...template.spec,
      interval: template.spec.interval ?? INTERVAL,
      prune: template.spec.prune ?? false,
      sourceRef: {
        kind: source.kind,
        name: source.metadata.name,
        ...(sparse && namespace === metadata.namespace ? {} : { namespace }),
        ...given,
      },
    },
  };
}

function completeMetadata({ metadata }: Template, fluxNamespace: string): ObjectMeta {
  return {
    name: metadata?.name ?? NAME,
    namespace: metadata?.namespace ?? fluxNamespace,
    ...(metadata?.labels && { labels: metadata.labels }),
    ...(metadata?.annotations && { annotations: metadata.annotations }),
  };
}
