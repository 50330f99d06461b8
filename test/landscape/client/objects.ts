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

/** Metadata as far as the landscape reads or writes it. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: unknown;
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
export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

const resource = (group: string, version: string, plural: string, kind: string, namespaced = true): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced,
});

const crds = 'customresourcedefinitions';

/** The resources that garden, seeds and shoots of a landscape are made of. */
export const resources = {
  shoots: resource('core.gardener.cloud', 'v1beta1', 'shoots', 'Shoot'),
  projects: resource('core.gardener.cloud', 'v1beta1', 'projects', 'Project', false),
  extensions: resource('extensions.gardener.cloud', 'v1alpha1', 'extensions', 'Extension'),
  clusters: resource('extensions.gardener.cloud', 'v1alpha1', 'clusters', 'Cluster', false),
  managedResources: resource('resources.gardener.cloud', 'v1alpha1', 'managedresources', 'ManagedResource'),
  secrets: resource('', 'v1', 'secrets', 'Secret'),
  configMaps: resource('', 'v1', 'configmaps', 'ConfigMap'),
  namespaces: resource('', 'v1', 'namespaces', 'Namespace', false),
  deployments: resource('apps', 'v1', 'deployments', 'Deployment'),
  customResourceDefinitions: resource('apiextensions.k8s.io', 'v1', crds, 'CustomResourceDefinition', false),
} as const satisfies Record<string, Resource>;
