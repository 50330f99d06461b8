import { SHARD_KEY } from '../../config/custom-options.ts';
import type { FluxInstall } from '../../config/types.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { serviceHost, withFlags } from '../flags.ts';
import { parseVersion } from '../versions.ts';
import { specOf, withController } from './deployment.ts';

/** Components with instances for each shard. */
const sharded = ['source-controller', 'kustomize-controller', 'helm-controller'];

const SOURCE_WATCHER = 'source-watcher';

/** Before, source-watcher could not be sharded: its artifacts were not found. */
const FIRST_MINOR_OF_WATCHER = 9;

/** Returns the objects with further instances of the controllers, each with the Service that its artifacts need. */
export function withShards(objects: KubeObject[], install: FluxInstall, version: string): KubeObject[] {
  const { key = SHARD_KEY, shards = [] } = install.sharding ?? {};
  if (shards.length === 0) return objects;
  const { major = 0, minor = 0 } = parseVersion(version) ?? {};
  const hasWatcher = major > 2 || minor >= FIRST_MINOR_OF_WATCHER;
  const names = hasWatcher ? [...sharded, SOURCE_WATCHER] : sharded;
  return objects.flatMap((object) => {
    if (!names.includes(object.metadata.name)) return [object];
    if (object.kind === 'Service') return [object, ...distinct(shards).map((shard) => shardOfService(object, shard))];
    if (object.kind !== 'Deployment') return [object];
    return [
      selecting(object, `!${key}`),
      ...distinct(shards).map((shard) => selecting(shardOfDeployment(object, shard, install), `${key}=${shard}`)),
    ];
  });
}

function distinct(shards: readonly string[]): string[] {
  return [...new Set(shards)];
}

function selecting(deployment: KubeObject, selector: string): KubeObject {
  return withController(deployment, ({ args = [], ...container }) => ({
    ...container,
    args: withFlags(args, { 'watch-label-selector': selector }),
  }));
}

/** Its Pods have a label of their own, so that each Service finds only those of its shard. */
function shardOfDeployment(deployment: KubeObject, shard: string, { clusterDomain }: FluxInstall): KubeObject {
  const name = `${deployment.metadata.name}-${shard}`;
  const spec = specOf(deployment);
  const { selector, template } = spec;
  const labels = { ...template.metadata.labels, app: name };
  const own: KubeObject = {
    ...deployment,
    metadata: { ...deployment.metadata, name },
    spec: {
      ...spec,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, app: name } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
  return withController(own, ({ args = [], ...container }) => ({
    ...container,
    args: args.map((arg) =>
      arg.startsWith('--storage-adv-addr=') ? `--storage-adv-addr=${serviceHost(name, clusterDomain)}` : arg,
    ),
  }));
}

function shardOfService(service: KubeObject, shard: string): KubeObject {
  const name = `${service.metadata.name}-${shard}`;
  const spec = service.spec as { selector?: Record<string, string> };
  return {
    ...service,
    metadata: { ...service.metadata, name },
    spec: { ...spec, selector: { ...spec.selector, app: name } },
  };
}
