import type { KubeClient, ObjectName, Resource } from '../client/client.ts';
import type { Discovery } from '../controllers/discovery.ts';
import { groupOf } from './references.ts';

/** The error of client-go's REST mapper. */
export class NoMatchError extends Error {
  constructor(apiVersion: string, kind: string) {
    super(`no matches for kind "${kind}" in version "${apiVersion}"`);
  }
}

/** Groups of the client's scheme: those of Kubernetes itself that the landscape serves. */
const scheme = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apps',
  'batch',
  'coordination.k8s.io',
  'networking.k8s.io',
  'rbac.authorization.k8s.io',
]);

export type Target = ReturnType<typeof createTarget>;

/**
 * The shoot as the resource-manager sees it.
 * @param namespaces the namespaces in the cache; `--target-namespace` and `--extra-target-namespace` of the real one
 */
export function createTarget(client: KubeClient, discovery: Discovery, namespaces: readonly string[]) {
  const refuseUnknown = ({ namespaced }: Resource, { namespace, name }: ObjectName) => {
    if (!namespaced || (namespace !== undefined && namespaces.includes(namespace))) return;
    throw new Error(`unable to get: ${namespace}/${name} because of unknown namespace for the cache`);
  };
  return {
    client,
    /** @throws NoMatchError when the kind is not served */
    async resource(apiVersion: string, kind: string) {
      const resource = await discovery.find(apiVersion, kind);
      if (resource === undefined) throw new NoMatchError(apiVersion, kind);
      return resource;
    },
    /** undefined when the kind is not served. */
    served: (apiVersion: string, kind: string) => discovery.find(apiVersion, kind),
    /** Reads as through the cache, which holds built-in kinds in the target namespaces only. */
    async cached(resource: Resource, name: ObjectName) {
      if (scheme.has(resource.group)) refuseUnknown(resource, name);
      return client.find(resource, name);
    },
    /** The same for a health check, which reads every kind through the cache. */
    async forHealth(resource: Resource, name: ObjectName) {
      refuseUnknown(resource, name);
      return client.find(resource, name);
    },
  };
}

/** Returns whether deletion must be in the foreground: only that reliably removes the dependents in these groups. */
export function needsForeground(apiVersion: string): boolean {
  return ['apps', 'extensions', 'batch'].includes(groupOf(apiVersion));
}
