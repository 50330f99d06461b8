import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { withPod } from './deployment.ts';

const SOURCE_CONTROLLER = 'source-controller';

/** The volume of the artifacts in the files of a release. */
const DATA = 'data';

/** Returns the objects with a PersistentVolumeClaim for source-controller. Its shards keep the disk of their nodes. */
export function withStorage(objects: KubeObject[], { storage }: FluxInstall): KubeObject[] {
  if (storage === undefined) return objects;
  return objects.flatMap((object) => {
    const isUser = object.kind === 'Deployment' && object.metadata.name === SOURCE_CONTROLLER;
    return isUser ? [claim(object, storage), withClaim(object)] : [object];
  });
}

function claim({ metadata }: KubeObject, storage: NonNullable<FluxInstall['storage']>): KubeObject {
  const { name, namespace, labels } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, ...(namespace !== undefined && { namespace }), ...(labels && { labels }) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storage.class !== undefined && { storageClassName: storage.class }),
      resources: { requests: { storage: storage.size } },
    },
  };
}

function withClaim(deployment: KubeObject): KubeObject {
  return withPod(deployment, (pod) => ({
    ...pod,
    volumes: (pod.volumes ?? []).map((volume) =>
      volume.name === DATA ? { name: DATA, persistentVolumeClaim: { claimName: SOURCE_CONTROLLER } } : volume,
    ),
  }));
}
