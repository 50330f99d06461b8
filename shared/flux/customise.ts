import semver from 'semver';
import { SHARD_KEY } from '../config/flux-options.ts';
import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import {
  type Customisation,
  type Customised,
  componentOf,
  type EnvironmentVariable,
  serviceHost,
  specOf,
  withController,
  withFlags,
  withPod,
} from './deployment.ts';
import { patched } from './patches/apply.ts';

/**
 * Applies the options that `flux install` lacks to the objects of an installation, and then the patches, which can change
 * what the options have made. The given objects are not modified.
 * @throws ConfigError when a patch cannot be applied
 */
export function customise(objects: KubeObject[], customisation: Customisation): Customised {
  return patched(customised(objects, customisation), customisation);
}

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

/** Returns an object with the labels and annotations of the configuration; those of the release win. */
function withCommonMetadata(object: KubeObject, { commonMetadata }: FluxInstall): KubeObject {
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

/** Returns a Deployment with the node selector and the PriorityClass of the configuration. */
function withPlacement(deployment: KubeObject, { nodeSelector, priorityClass }: FluxInstall): KubeObject {
  return withPod(deployment, (pod) => ({
    ...pod,
    ...(nodeSelector && { nodeSelector: { ...pod.nodeSelector, ...nodeSelector } }),
    ...(priorityClass !== undefined && { priorityClassName: priorityClass }),
  }));
}

/** Returns a Deployment whose controller uses the proxy. */
function withProxy(deployment: KubeObject, install: FluxInstall): KubeObject {
  const { proxy, clusterDomain } = install;
  if (proxy === undefined) return deployment;
  const variables: EnvironmentVariable[] = [
    ...urlVariable('HTTP_PROXY', proxy.http, proxy.secretName),
    ...urlVariable('HTTPS_PROXY', proxy.https, proxy.secretName),
    { name: 'NO_PROXY', value: noProxy(clusterDomain, proxy.noProxy) },
  ];
  const names = variables.map(({ name }) => name);
  return withController(deployment, (container) => ({
    ...container,
    env: [...(container.env ?? []).filter(({ name }) => !names.includes(name)), ...variables],
  }));
}

/** A Secret may lack one of the keys. */
function urlVariable(name: string, url: string | undefined, secret: string | undefined): EnvironmentVariable[] {
  if (secret !== undefined) return [{ name, valueFrom: { secretKeyRef: { name: secret, key: name, optional: true } } }];
  return url === undefined ? [] : [{ name, value: url }];
}

/** Controllers reach each other by names with a final dot, and the API server by an address that the kubelet knows. */
function noProxy(clusterDomain: string, others: string | undefined): string {
  const own = `localhost,127.0.0.1,.svc,.${clusterDomain},.${clusterDomain}.,$(KUBERNETES_SERVICE_HOST)`;
  return others === undefined ? own : `${own},${others}`;
}

/** The values of flux-operator, so that a size means the same (docs/flux-facts.md). */
const values = {
  small: { concurrent: 5, requeueDependency: '10s', limits: { cpu: '1000m', memory: '512Mi' } },
  medium: { concurrent: 10, requeueDependency: '5s', limits: { cpu: '2000m', memory: '1Gi' } },
  large: { concurrent: 20, requeueDependency: '5s', limits: { cpu: '3000m', memory: '3Gi' } },
} as const satisfies Record<NonNullable<FluxInstall['size']>, object>;

const SOURCE_CONTROLLER = 'source-controller';

/** Controllers that do the work, so they have sizes and shards; the others only pass on what these have done. */
const workers = [SOURCE_CONTROLLER, 'kustomize-controller', 'helm-controller'];

/** Flux's documentation recommends these for clusters with many Helm releases. */
const helmCache = {
  'helm-cache-max-size': '10',
  'helm-cache-ttl': '60m',
  'helm-cache-purge-interval': '5m',
};

/** Returns a Deployment with the flags and limits of the size. */
function withSize(deployment: KubeObject, install: FluxInstall): KubeObject {
  const component = componentOf(deployment, install);
  if (install.size === undefined || component === undefined || !workers.includes(component)) return deployment;
  const { concurrent, requeueDependency, limits } = values[install.size];
  const flags = {
    concurrent: String(concurrent),
    'requeue-dependency': requeueDependency,
    ...(component === SOURCE_CONTROLLER && helmCache),
  };
  return withController(deployment, ({ args = [], resources, ...container }) => ({
    ...container,
    args: withFlags(args, flags),
    resources: { ...resources, limits: { ...resources?.limits, ...limits } },
  }));
}

/** The volume of the artifacts in the files of a release. */
const DATA = 'data';

/** Returns the objects with a PersistentVolumeClaim for source-controller. Its shards keep the disk of their nodes. */
function withStorage(objects: KubeObject[], { storage }: FluxInstall): KubeObject[] {
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

const SOURCE_WATCHER = 'source-watcher';

/** Before, source-watcher could not be sharded: its artifacts were not found. */
const FIRST_MINOR_OF_WATCHER = 9;

/** Returns the objects with further instances of the controllers, each with the Service that its artifacts need. */
function withShards(objects: KubeObject[], install: FluxInstall, version: string): KubeObject[] {
  const { key = SHARD_KEY } = install.sharding ?? {};
  const shards = [...new Set(install.sharding?.shards)];
  if (shards.length === 0) return objects;
  const { major = 0, minor = 0 } = semver.parse(version) ?? {};
  const hasWatcher = major > 2 || minor >= FIRST_MINOR_OF_WATCHER;
  const names = hasWatcher ? [...workers, SOURCE_WATCHER] : workers;
  return objects.flatMap((object) => {
    if (!names.includes(object.metadata.name)) return [object];
    if (object.kind === 'Service') return [object, ...shards.map((shard) => shardOfService(object, shard))];
    if (object.kind !== 'Deployment') return [object];
    return [
      selecting(object, `!${key}`),
      ...shards.map((shard) => selecting(shardOfDeployment(object, shard, install), `${key}=${shard}`)),
    ];
  });
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
