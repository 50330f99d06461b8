/** A resource of the Kubernetes API: where its objects are served. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  /** Lower-case plural, as in the URL. */
  plural: string;
  kind: string;
  namespaced: boolean;
  /** True: its readers expect marks in place of oversized parts (`shared/oversized.ts`). */
  mayBeCut?: boolean;
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

/** Names one object of a resource. */
export interface ObjectName {
  namespace?: string | undefined;
  name: string;
}

/** Returns `v1` or `group/version`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

const resource = (group: string, version: string, plural: string, kind: string, namespaced = true): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});

const cuttable = (of: Resource): Resource => ({ ...of, mayBeCut: true });

/** The resources that functions and watcher work with. */
export const resources = {
  extensions: cuttable(resource('extensions.gardener.cloud', 'v1alpha1', 'extensions', 'Extension')),
  clusters: cuttable(resource('extensions.gardener.cloud', 'v1alpha1', 'clusters', 'Cluster', false)),
  managedResources: resource('resources.gardener.cloud', 'v1alpha1', 'managedresources', 'ManagedResource'),
  secrets: resource('', 'v1', 'secrets', 'Secret'),
  configMaps: resource('', 'v1', 'configmaps', 'ConfigMap'),
  namespaces: resource('', 'v1', 'namespaces', 'Namespace', false),
  events: resource('', 'v1', 'events', 'Event'),
  shoots: cuttable(resource('core.gardener.cloud', 'v1beta1', 'shoots', 'Shoot')),
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
