import type { FluxInstall } from '../../../shared/config/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Layers } from './kustomize.ts';

/**
 * What the options of an installation mean, written a second time: as the kustomizations that Flux's documentation gives
 * to people who patch the output of `flux install` themselves, and with the sizes of flux-operator. Nothing of the code
 * under test is used here.
 */
export function kustomizationsOf(
  objects: KubeObject[],
  install: Partial<FluxInstall>,
  { version, digests }: { version: string; digests: Record<string, string> },
): Layers[] {
  const shards = [...new Set(install.sharding?.shards ?? [])];
  const key = install.sharding?.key ?? 'sharding.fluxcd.io/key';
  // Before, its artifacts are not found.
  const kinds = /^v2\.[0-8]\./.test(version) ? SHARDED : `${SHARDED}|source-watcher`;
  const domain = install.clusterDomain ?? 'cluster.local';
  const instances = shards.map(
    (shard): Layers => ({ [`shard-${shard}`]: shardOf(objects, shard, kinds, key, domain) }),
  );
  const selecting = [toAll(`(${kinds})`, [argument(`--watch-label-selector=!${key}`)])];
  const sharded: Layers = {
    generated: { kustomization: {} },
    main: { kustomization: { resources: ['../generated'], patches: shards.length > 0 ? selecting : [] } },
    ...Object.assign({}, ...instances),
    all: { kustomization: { resources: ['../main', ...shards.map((shard) => `../shard-${shard}`)] } },
  };
  const patched: Layers = {
    options: optionsOf(objects, install, digests),
    patched: { kustomization: { resources: ['../options'], patches: install.patches ?? [] } },
  };
  // In one build, a target would also find the instances of shards by their former names.
  return shards.length > 0 ? [sharded, patched] : [patched];
}

const SHARDED = 'source-controller|kustomize-controller|helm-controller';
const TENANTS = 'kustomize|helm|notification|image-reflector|image-automation';
const CONTAINER = '/spec/template/spec/containers/0';

interface KustomizePatch {
  target: Record<string, string>;
  patch: string;
}

const add = (path: string, value: unknown) => ({ op: 'add', path, value });
const argument = (value: string) => add(`${CONTAINER}/args/-`, value);
const variable = (value: object) => add(`${CONTAINER}/env/-`, value);
const toAll = (name: string, operations: object[]): KustomizePatch => ({
  target: { kind: 'Deployment', name },
  patch: JSON.stringify(operations),
});
const merged = (name: string, spec: object): KustomizePatch => ({
  target: { kind: 'Deployment', name },
  patch: JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'all' }, spec }),
});
const deleted = (kind: string, name?: string): KustomizePatch => ({
  target: { kind, ...(name !== undefined && { name }) },
  patch: JSON.stringify({ apiVersion: 'v1', kind: 'all', metadata: { name: 'all' }, $patch: 'delete' }),
});

/** An instance for a shard: the same controllers under other names, without anything else. */
function shardOf(objects: KubeObject[], shard: string, kinds: string, key: string, domain: string): Layers[string] {
  const others = objects.filter(
    ({ kind, metadata: { name } }) => !/^(Deployment|Service)$/.test(kind) || !kinds.split('|').includes(name),
  );
  const named = (kind: string, of: RegExp) =>
    objects.filter(
      (object) =>
        object.kind === kind && kinds.split('|').includes(object.metadata.name) && of.test(object.metadata.name),
    );
  return {
    kustomization: {
      resources: ['../generated'],
      nameSuffix: `-${shard}`,
      patches: [
        ...others.map(({ kind, metadata }) => deleted(kind, metadata.name)),
        ...named('Service', /./).map(({ kind, metadata: { name } }) => ({
          target: { kind, name },
          patch: JSON.stringify([{ op: 'replace', path: '/spec/selector/app', value: `${name}-${shard}` }]),
        })),
        ...named('Deployment', /./).map(({ metadata: { name } }) =>
          toAll(name, [
            { op: 'replace', path: '/spec/selector/matchLabels/app', value: `${name}-${shard}` },
            { op: 'replace', path: '/spec/template/metadata/labels/app', value: `${name}-${shard}` },
            argument(`--watch-label-selector=${key}=${shard}`),
          ]),
        ),
        ...named('Deployment', /^source-/).map(({ metadata: { name } }) => {
          const value = `--storage-adv-addr=${name}-${shard}.$(RUNTIME_NAMESPACE).svc.${domain}.`;
          return toAll(name, [{ op: 'replace', path: `${CONTAINER}/args/6`, value }]);
        }),
      ],
    },
  };
}

function optionsOf(
  objects: KubeObject[],
  install: Partial<FluxInstall>,
  digests: Record<string, string>,
): Layers[string] {
  const { commonMetadata: { labels, annotations } = {}, imageDigests } = install;
  return {
    objects: claimOf(objects, install),
    kustomization: {
      patches: [
        ...sizeOf(install),
        ...tenantsOf(install),
        ...placeOf(install),
        ...proxyOf(install),
        ...volumeOf(objects, install),
      ],
      ...(labels && { labels: [{ pairs: labels, includeSelectors: false }] }),
      ...(annotations && { transformers: [annotating(annotations)] }),
      ...(imageDigests !== 'Never' && { images: imagesOf(objects, digests) }),
    },
  };
}

function sizeOf({ size }: Partial<FluxInstall>): KustomizePatch[] {
  if (size === undefined) return [];
  const values = {
    small: { concurrent: 5, requeue: '10s', cpu: '1000m', memory: '512Mi' },
    medium: { concurrent: 10, requeue: '5s', cpu: '2000m', memory: '1Gi' },
    large: { concurrent: 20, requeue: '5s', cpu: '3000m', memory: '3Gi' },
  };
  const { concurrent, requeue, cpu, memory } = values[size];
  const working = '(source|kustomize|helm)-controller(-.+)?';
  const cache = ['--helm-cache-max-size=10', '--helm-cache-ttl=60m', '--helm-cache-purge-interval=5m'];
  return [
    toAll(working, [argument(`--concurrent=${concurrent}`), argument(`--requeue-dependency=${requeue}`)]),
    merged(working, {
      template: { spec: { containers: [{ name: 'manager', resources: { limits: { cpu, memory } } }] } },
    }),
    toAll('source-controller(-.+)?', cache.map(argument)),
  ];
}

function tenantsOf({ multiTenancy, tenantDefaultServiceAccount = 'default' }: Partial<FluxInstall>): KustomizePatch[] {
  if (multiTenancy !== true) return [];
  return [
    toAll(`((${TENANTS})-controller|source-watcher)(-.+)?`, [argument('--no-cross-namespace-refs=true')]),
    toAll('kustomize-controller(-.+)?', [argument('--no-remote-bases=true')]),
    toAll('(kustomize|helm)-controller(-.+)?', [argument(`--default-service-account=${tenantDefaultServiceAccount}`)]),
  ];
}

function placeOf({ nodeSelector, priorityClass }: Partial<FluxInstall>): KustomizePatch[] {
  return [
    ...(nodeSelector ? [merged('.*', { template: { spec: { nodeSelector } } })] : []),
    ...(priorityClass ? [merged('.*', { template: { spec: { priorityClassName: priorityClass } } })] : []),
  ];
}

function proxyOf({ proxy, clusterDomain = 'cluster.local' }: Partial<FluxInstall>): KustomizePatch[] {
  if (proxy === undefined) return [];
  const { http, https, noProxy, secretName } = proxy;
  const own = `localhost,127.0.0.1,.svc,.${clusterDomain},.${clusterDomain}.,$(KUBERNETES_SERVICE_HOST)`;
  const ofSecret = (name: string) => ({
    name,
    valueFrom: { secretKeyRef: { name: secretName, key: name, optional: true } },
  });
  const urls =
    secretName !== undefined
      ? [ofSecret('HTTP_PROXY'), ofSecret('HTTPS_PROXY')]
      : [
          ...(http === undefined ? [] : [{ name: 'HTTP_PROXY', value: http }]),
          ...(https === undefined ? [] : [{ name: 'HTTPS_PROXY', value: https }]),
        ];
  const all = [...urls, { name: 'NO_PROXY', value: noProxy === undefined ? own : `${own},${noProxy}` }];
  return [toAll('.*', all.map(variable))];
}

const sourceController = (objects: KubeObject[]) =>
  objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'source-controller');

function volumeOf(objects: KubeObject[], { storage }: Partial<FluxInstall>): KustomizePatch[] {
  if (storage === undefined || sourceController(objects) === undefined) return [];
  const value = { name: 'data', persistentVolumeClaim: { claimName: 'source-controller' } };
  const volume = '/spec/template/spec/volumes/0';
  return [
    toAll('source-controller', [
      { op: 'test', path: volume, value: { name: 'data', emptyDir: {} } },
      { op: 'replace', path: volume, value },
    ]),
  ];
}

function claimOf(objects: KubeObject[], { storage }: Partial<FluxInstall>): KubeObject[] {
  const deployment = sourceController(objects);
  if (storage === undefined || deployment === undefined) return [];
  const { name, namespace = '', labels = {} } = deployment.metadata;
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: storage.size } } };
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace, labels },
      spec: storage.class === undefined ? spec : { ...spec, storageClassName: storage.class },
    },
  ];
}

/** The field `commonAnnotations` would also change Pods. */
function annotating(annotations: Record<string, string>): string {
  return JSON.stringify({
    apiVersion: 'builtin',
    kind: 'AnnotationsTransformer',
    metadata: { name: 'common' },
    annotations,
    fieldSpecs: [{ path: 'metadata/annotations', create: true }],
  });
}

/** Beside the tag, which kustomize would remove otherwise. */
function imagesOf(objects: KubeObject[], digests: Record<string, string>): object[] {
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ metadata, spec }) => {
      const { template } = spec as { template: { spec: { containers: { image: string }[] } } };
      const [, name, newTag] = /^(.*):([^:/]+)$/.exec(template.spec.containers[0]?.image ?? '') ?? [];
      return { name, newTag, digest: digests[metadata.name] };
    });
}
