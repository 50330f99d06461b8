/** A resource of the Kubernetes API: where its objects are served. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  /** Lower-case plural, as in the URL. */
  plural: string;
  kind: string;
  namespaced: boolean;
}

/** The metadata that this product reads or writes. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  /** When a graceful deletion must have ended; requested `deletionGracePeriodSeconds` before. */
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: unknown;
  managedFields?: ManagedFields[];
}

/** The fields that a manager has set, as a tree with `f:<name>` for each field. */
export interface ManagedFields {
  manager?: string;
  operation?: string;
  subresource?: string;
  /** Of the request: the version of the object in which the fields are named. */
  apiVersion?: string;
  /** RFC 3339: of the last change of these fields. */
  time?: string;
  fieldsV1?: Record<string, unknown>;
}

/** Any Kubernetes object. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** What Kubernetes permits as the name of a namespace, and Gardener as that of a Shoot. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Names one object of a resource. */
export interface ObjectName {
  namespace?: string | undefined;
  name: string;
}

/** Returns `v1` or `group/version`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

export const resource = (
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced = true,
): Resource => ({ group, version, plural, kind, namespaced });

/** The resources that functions and watcher work with. */
export const resources = {
  extensions: resource('extensions.gardener.cloud', 'v1alpha1', 'extensions', 'Extension'),
  clusters: resource('extensions.gardener.cloud', 'v1alpha1', 'clusters', 'Cluster', false),
  managedResources: resource('resources.gardener.cloud', 'v1alpha1', 'managedresources', 'ManagedResource'),
  secrets: resource('', 'v1', 'secrets', 'Secret'),
  configMaps: resource('', 'v1', 'configmaps', 'ConfigMap'),
  namespaces: resource('', 'v1', 'namespaces', 'Namespace', false),
  events: resource('', 'v1', 'events', 'Event'),
  pods: resource('', 'v1', 'pods', 'Pod'),
  services: resource('', 'v1', 'services', 'Service'),
  persistentVolumeClaims: resource('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  shoots: resource('core.gardener.cloud', 'v1beta1', 'shoots', 'Shoot'),
  projects: resource('core.gardener.cloud', 'v1beta1', 'projects', 'Project', false),
  customResourceDefinitions: resource(
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
    false,
  ),
  deployments: resource('apps', 'v1', 'deployments', 'Deployment'),
  leases: resource('coordination.k8s.io', 'v1', 'leases', 'Lease'),
} as const satisfies Record<string, Resource>;

/** The namespaces of Kubernetes itself, where no other software belongs. */
export const KUBERNETES_NAMESPACES: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

/** The namespaces that every cluster has: those of Kubernetes itself, and `default`, which anything may use. */
export const SYSTEM_NAMESPACES: readonly string[] = ['default', ...KUBERNETES_NAMESPACES];

type Query = Record<string, string | number | boolean | undefined>;

/** Returns `/api/v1/namespaces/foo/secrets` or `/apis/group/version/…`; without namespace for all namespaces. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${resource.plural}`;
}

/** Returns the path of one object, or of its subresource. */
export function objectPath(resource: Resource, name: ObjectName, subresource?: string): string {
  // An empty segment would address the whole collection, and DELETE would remove everything.
  if (name.name === '' || (resource.namespaced && !name.namespace)) {
    throw new TypeError(`${resource.kind} needs a name${resource.namespaced ? ' and a namespace' : ''}`);
  }
  const path = `${collectionPath(resource, name.namespace)}/${encodeURIComponent(name.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Returns `?a=1&b=2` of the values that are defined, or an empty string. */
export function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? '' : `?${search}`;
}
