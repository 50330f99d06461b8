import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';

/** Returns an object with the labels and annotations of the configuration; those of the release win. */
export function withCommonMetadata(object: KubeObject, { commonMetadata }: FluxInstall): KubeObject {
  if (commonMetadata === undefined) return object;
  const { labels, annotations } = commonMetadata;
  const { metadata } = object;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(labels && { labels: { ...labels, ...metadata.labels } }),
      ...(annotations && { annotations: { ...annotations, ...metadata.annotations } }),
    },
  };
}
