import * as z from 'zod/mini';
import {
  type Check,
  clusterDomain,
  component,
  fluxNamespace,
  fluxVersion,
  isReserved,
  labelValue,
  metadataKey,
  objectName,
  registry,
  tolerationKey,
} from './checks.ts';
import { limits, limitText } from './limits.ts';
import { quote } from './quote.ts';
import { key, listUpTo, mapOf, requiredKey, ruled, text } from './schema.ts';
import { lengthOfYamlProblem } from './yaml-text.ts';

/** The defaults of the installation, which are those of `flux install`. */
export const installDefaults = {
  registry: 'ghcr.io/fluxcd',
  namespace: 'flux-system',
  components: ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'],
  networkPolicy: true,
  watchAllNamespaces: true,
  logLevel: 'info' as 'debug' | 'info' | 'error',
  clusterDomain: 'cluster.local',
  tolerationKeys: [] as string[],
};

/** What happens after the first success; see docs/configuration.md. */
export const syncModes = ['Once', 'ManifestsOnly', 'Reconcile'] as const;
/** What happens to Flux when the extension is removed from the Shoot; see docs/configuration.md. */
export const deletionPolicies = ['Orphan', 'Uninstall'] as const;

const ownKey: Check = (name) =>
  metadataKey(name.toLowerCase()) ??
  (isReserved(name)
    ? `has the key ${quote(name)}, which belongs to Kubernetes, Gardener, Flux or Helm; use a key of your own domain, for example example.com/team`
    : undefined);

const PROXY_URL = /^(https?|socks5):\/\/[^\s/?#$@\\]+\/?$/;

/** Checks the URL of a proxy. */
const proxyUrl: Check = (url) => {
  // Before anything that quotes it.
  if (url.includes('@')) {
    return 'contains credentials, which anyone can read here; put the URL into a Secret under the key HTTP_PROXY or HTTPS_PROXY, and set secretName';
  }
  return PROXY_URL.test(url) && URL.canParse(url)
    ? undefined
    : `${quote(url)} is not the URL of a proxy; use a form like http://proxy.example.com:3128`;
};

const noProxy: Check = (hosts) =>
  /^[\w.*:/[\]-]+(,[\w.*:/[\]-]+)*$/.test(hosts)
    ? undefined
    : `${quote(hosts)} is not a list of hosts; separate domains, addresses and address ranges with commas, as in .example.com,10.0.0.0/8`;

/** `flux.proxy`. */
const proxySchema = z.strictObject({
  http: key(text(proxyUrl), {
    description: '`HTTP_PROXY`: the proxy for `http://`.',
    example: 'http://proxy.example.com:3128',
  }),
  https: key(text(proxyUrl), {
    description: '`HTTPS_PROXY`: the proxy for `https://`.',
    example: 'http://proxy.example.com:3128',
  }),
  noProxy: key(text(noProxy), {
    description:
      "`NO_PROXY`: what is reached without the proxy, separated by commas. The cluster's own domain and the address of its API server are always added.",
    example: '.example.com,10.0.0.0/8',
  }),
  secretName: key(text(objectName), {
    description:
      'A Secret in the namespace of Flux with the keys `HTTP_PROXY` and `HTTPS_PROXY`, for URLs with credentials: instead of `http` and `https`.',
    example: 'proxy',
  }),
});

const quantity: Check = (size) =>
  /^[1-9][0-9]{0,5}(Mi|Gi|Ti)$/.test(size)
    ? undefined
    : `${quote(size)} is not a size; use a number with Mi, Gi or Ti, for example 10Gi`;

/** `flux.storage`. */
const storageSchema = z.strictObject({
  class: key(text(objectName), {
    description: 'The StorageClass.',
    default: 'the default class of the shoot',
    example: 'default',
  }),
  size: requiredKey(text(quantity), { description: 'The size.', example: '10Gi' }),
});

const shard: Check = (name) =>
  /^[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?$/.test(name)
    ? undefined
    : `${quote(name)} is not a valid name of a shard; use at most 20 lowercase letters, digits and '-', starting and ending with a letter or digit`;

/** The label that Flux's documentation uses. */
export const SHARD_KEY = 'sharding.fluxcd.io/key';

/** `flux.sharding`. */
const shardingSchema = z.strictObject({
  key: key(text(metadataKey), {
    description: 'The key of the label.',
    default: `\`${SHARD_KEY}\``,
    example: SHARD_KEY,
  }),
  shards: requiredKey(listUpTo(limits.shards, text(shard)), {
    description: 'The names of the instances.',
    example: 'shard1, shard2',
  }),
});

const gates: Check = (list) =>
  list.split(',').every((gate) => /^[A-Z]\w*=(true|false)$/.test(gate))
    ? undefined
    : `${quote(list)} is not a list of feature gates; use a form like GroupChangeLog=true,DisableStatusPollerCache=false`;

/** `flux.commonMetadata`. */
const commonMetadataSchema = ruled(
  z.strictObject({
    labels: z.optional(mapOf(ownKey, labelValue)),
    annotations: z.optional(mapOf(ownKey)),
  }),
  (value) =>
    JSON.stringify(value).length > limits.metadata.most * 1024
      ? `is longer than ${limitText(limits.metadata)}; use shorter values`
      : undefined,
);

/** An entry of `flux.patches`. */
const patchSchema = z.strictObject({
  patch: requiredKey(text(undefined, limits.patch), {
    description:
      'A strategic merge, as an object with `kind` and `metadata.name`, or a list of JSON 6902 operations, which needs a target. In YAML or JSON.',
    example: '"[{ op: replace, path: /spec/replicas, value: 1 }]"',
  }),
  target: key(
    z.strictObject({
      group: z.optional(text()),
      version: z.optional(text()),
      kind: z.optional(text()),
      name: z.optional(text()),
      namespace: z.optional(text()),
      labelSelector: z.optional(text()),
      annotationSelector: z.optional(text()),
    }),
    {
      description:
        'The objects: `group`, `version`, `kind`, `name` and `namespace` are regular expressions that match all of it, `labelSelector` and `annotationSelector` select by labels and annotations.',
      example: '{ kind: Deployment, name: .*-controller }',
    },
  ),
});

/** Together, because a hostile text may be cut into many. */
const patchesSchema = ruled(listUpTo(limits.patches, patchSchema), (patches) =>
  lengthOfYamlProblem(patches.map(({ patch }) => patch).join('\n')),
);

/** `flux` of the FluxConfig: how Flux itself is installed. The options of `flux install` have their own names. */
export const fluxSchema = z.strictObject({
  version: key(text(fluxVersion), {
    description:
      'The Flux release: an exact version (`v2.9.4`), a range (`2.9.x`, `>=2.8 <2.10`, `~2.8`, `^2`, with alternatives `||`), or nothing for the newest that supports the Kubernetes version of the Shoot. Never downgraded. A release that does not support it is a warning.',
    default: 'the newest release',
    example: 'v2.9.4',
  }),
  registry: key(text(registry), {
    description: "Prefix of the controllers' images.",
    default: `\`${installDefaults.registry}\``,
    example: 'registry.example.com/fluxcd',
  }),
  namespace: key(text(fluxNamespace), {
    description: 'The namespace of Flux. It cannot change after the first success.',
    default: `\`${installDefaults.namespace}\``,
    example: 'flux-system',
  }),
  components: key(z.array(text(component)), {
    description: 'The controllers to install.',
    default: `\`${installDefaults.components.join(', ')}\``,
    example: 'source-controller, kustomize-controller',
  }),
  componentsExtra: key(z.array(text(component)), {
    description: 'Additional controllers, for example `image-reflector-controller` or `source-watcher`.',
    example: 'image-reflector-controller, image-automation-controller',
  }),
  imagePullSecret: key(text(objectName), {
    description: 'A Secret of type `kubernetes.io/dockerconfigjson` in the namespace of Flux for pulling the images.',
    example: 'registry-credentials',
  }),
  networkPolicy: key(z.boolean(), {
    description: "Whether to install Flux's NetworkPolicies.",
    default: '`true`',
    example: 'false',
  }),
  watchAllNamespaces: key(z.boolean(), {
    description: 'Whether Flux watches all namespaces or only its own.',
    default: '`true`',
    example: 'false',
  }),
  logLevel: key(z.enum(['debug', 'info', 'error']), {
    description: 'The log level of the controllers: `debug`, `info` or `error`.',
    default: '`info`',
    example: 'debug',
  }),
  clusterDomain: key(text(clusterDomain), {
    description: 'The DNS domain of the cluster.',
    default: '`cluster.local`',
    example: 'cluster.local',
  }),
  tolerationKeys: key(z.array(text(tolerationKey)), {
    description: 'Keys of the taints that the controllers tolerate.',
    example: 'node-role.kubernetes.io/infra',
  }),
  multiTenancy: key(z.boolean(), {
    description:
      'Whether tenants that share the shoot are kept apart, as in the lockdown of Flux: no references to objects of other namespaces, no remote bases, and each Kustomization and HelmRelease acts as a ServiceAccount of its namespace, `default` if it names none. The root Kustomization acts as `kustomize-controller`.',
    default: '`false`',
    example: 'true',
  }),
  tenantDefaultServiceAccount: key(text(objectName), {
    description:
      'With `multiTenancy`: the ServiceAccount that a Kustomization or HelmRelease acts as if it names none, in its own namespace. The root Kustomization keeps `kustomize-controller`.',
    default: '`default`',
    example: 'flux-tenant',
  }),
  objectLevelWorkloadIdentity: key(z.boolean(), {
    description:
      'Whether objects sign in to a cloud as the ServiceAccount that they name, without a stored credential. With `multiTenancy`, one that names none does so as a default account of its namespace, never as the controller. From Flux 2.7.',
    default: '`false`',
    example: 'true',
  }),
  tenantDefaultDecryptionServiceAccount: key(text(objectName), {
    description:
      'With `multiTenancy` and `objectLevelWorkloadIdentity`: the ServiceAccount with which a Kustomization decrypts if its `decryption` names none.',
    default: '`default`',
    example: 'flux-kms',
  }),
  tenantDefaultKubeConfigServiceAccount: key(text(objectName), {
    description:
      'With `multiTenancy` and `objectLevelWorkloadIdentity`: the ServiceAccount with which a Kustomization or HelmRelease signs in to another cluster if the ConfigMap in its `kubeConfig` names none.',
    default: '`default`',
    example: 'flux-remote',
  }),
  watchConfigs: key(z.boolean(), {
    description:
      'Whether Kustomizations, HelmReleases and Receivers follow every Secret and ConfigMap that they name at once, instead of those with the label `reconcile.fluxcd.io/watch: Enabled`. From Flux 2.7.',
    default: '`false`',
    example: 'true',
  }),
  featureGates: key(mapOf(component, gates), {
    description:
      'Feature gates of controllers, each as in its flag `--feature-gates`. A controller that does not know a gate does not start; the options above set those that they need.',
    example: '{ kustomize-controller: "GroupChangeLog=true,DisableStatusPollerCache=false" }',
  }),
  size: key(z.enum(['small', 'medium', 'large']), {
    description:
      'How much source-, kustomize- and helm-controller may do at once: `small` 5 objects with 1 CPU and 512 MiB, `medium` 10 with 2 CPU and 1 GiB, `large` 20 with 3 CPU and 3 GiB. A dependency that is not ready is checked again after 10 s (`small`) or 5 s, and source-controller caches Helm repositories.',
    default: "the release's own values",
    example: 'medium',
  }),
  priorityClass: key(text(objectName), {
    description: 'The PriorityClass of all controllers, instead of those in the release.',
    default: "the release's own",
    example: 'system-cluster-critical',
  }),
  imageDigests: key(z.enum(['Auto', 'Always', 'Never']), {
    description:
      'Whether images are named by their digests beside their tags: `Auto` where the distribution knows them, `Always` with an error where it does not, `Never` by tags alone.',
    default: '`Auto`',
    example: 'Always',
  }),
  sopsAgeSecret: key(text(objectName), {
    description:
      'A Secret with age keys (`*.agekey`) in the namespace of the root Kustomization, which decrypts with it unless it has a `decryption` of its own.',
    example: 'sops-age',
  }),
  nodeSelector: key(mapOf(metadataKey, labelValue), {
    description: 'Labels of the nodes that run the controllers, in addition to `kubernetes.io/os: linux`.',
    example: '{ worker.gardener.cloud/pool: infra }',
  }),
  commonMetadata: key(commonMetadataSchema, {
    description: 'Labels and annotations of all objects of the installation, but not of Pods.',
    example: '{ labels: { example.com/team: platform } }',
  }),
  proxy: key(proxySchema, {
    description: 'The proxy of all controllers, with its keys `http`, `https`, `noProxy` and `secretName`.',
    example: '{ https: http://proxy.example.com:3128, noProxy: .example.com }',
  }),
  storage: key(storageSchema, {
    description:
      'A PersistentVolumeClaim for the artifacts of source-controller, which then outlive its Pod. Size and class count when the claim is created.',
    default: 'the disk of the node',
    example: '{ size: 10Gi }',
  }),
  sharding: key(shardingSchema, {
    description:
      'Further instances of source-, kustomize- and helm-controller, and from Flux 2.9 of source-watcher. Each acts on the objects whose label `key` has its name as the value; the main controllers on those without this label.',
    example: '{ shards: [shard1, shard2] }',
  }),
  patches: key(patchesSchema, {
    description:
      'Changes of the objects of the installation, in the syntax of kustomize. A patch can neither add objects, nor rename them, nor give a controller other rights.',
    example: '{ target: { kind: NetworkPolicy }, patch: "{ kind: any, metadata: { name: any }, $patch: delete }" }',
  }),
});

/** What layers say beside `flux` in one word. */
export const settings = {
  syncMode: key(z.enum(syncModes), {
    description:
      'How much of the configuration is still applied after the first success: `Once`, `ManifestsOnly` or `Reconcile`.',
    default:
      '`ManifestsOnly` if the source or, without one, `objects` or `addons` come from `flux-config`, otherwise `Once`',
    example: 'Reconcile',
  }),
  deletionPolicy: key(z.enum(deletionPolicies), {
    description:
      'Whether Flux stays when the extension is removed from the Shoot: `Orphan` leaves it running, `Uninstall` removes it. The objects that Flux has deployed stay in both cases.',
    default: '`Orphan` if `syncMode` has released Flux, otherwise `Uninstall`',
    example: 'Orphan',
  }),
  suspend: key(z.boolean(), {
    description:
      'Suspends the source and the Kustomization, for incidents: nothing new is applied and nothing is removed. If `syncMode` `Once` has released them, use `flux suspend` in the shoot instead.',
    default: '`false`',
    example: 'true',
  }),
  adopt: key(z.boolean(), {
    description:
      'Whether the extension takes over a Flux that `flux bootstrap`, Helm or flux-operator has installed in the shoot. Without it, such a Shoot is left alone.',
    default: '`false`',
    example: 'true',
  }),
  monitoring: key(z.boolean(), {
    description:
      "Whether the Shoot's Prometheus reads the metrics of Flux, with alerts, and its Plutono has a dashboard. Nothing of it is in the shoot.",
    default: '`false`',
    example: 'true',
  }),
};
