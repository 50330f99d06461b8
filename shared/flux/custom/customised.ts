import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation } from '../customisation.ts';
import { withCommonMetadata } from './common-metadata.ts';
import { withPlacement } from './placement.ts';
import { withProxy } from './proxy.ts';
import { withShards } from './sharding.ts';
import { withSize } from './size.ts';
import { withStorage } from './storage.ts';

/** Changes the objects of an installation as the options say. The given objects are not modified. */
export function customised(objects: KubeObject[], { install, version }: Customisation): KubeObject[] {
  // First, so that everything else also reaches the shards.
  const sharded = withShards(objects, install, version);
  const stored = withStorage(sharded, install);
  const changed = stored.map((object) =>
    object.kind === 'Deployment' ? withProxy(withPlacement(withSize(object, install), install), install) : object,
  );
  return changed.map((object) => withCommonMetadata(object, install));
}
