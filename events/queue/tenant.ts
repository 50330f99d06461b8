import type { ReconcileKey } from '../../shared/runtime/key.ts';

/** The owner of a run: slots are shared fairly between clusters, and between the projects of a cluster. */
export interface Tenant {
  cluster: string;
  project: string;
}

/**
 * Returns the tenant of a key. A control plane is `shoot--<project>--<shoot>`, and a project's namespace in the garden
 * is `garden-<project>` unless the project chose another name, which then stands for it.
 */
export function tenantOf({ cluster, namespace }: ReconcileKey): Tenant {
  const [, project = namespace] = /^(?:shoot--(.+?)--.|garden-(?=.))/.exec(namespace) ?? [];
  return { cluster, project: project === namespace ? namespace.replace(/^garden-(?=.)/, '') : project };
}
