import type { KubeObject, ObjectMeta } from '../kube/resource.ts';
import { defaultIntervals } from './intervals.ts';
import type { Template } from './layer.ts';

const NAME = 'flux-system';

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
  fluxNamespace: string,
  omitOwnNamespace: boolean,
): KubeObject {
  const metadata = completeMetadata(template, fluxNamespace);
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
