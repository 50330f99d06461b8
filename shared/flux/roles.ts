import type { KubeObject } from '../kube/resource.ts';

/** The namespace in the files of a release. */
const RELEASE_NAMESPACE = 'flux-system';

/**
 * Returns the objects of `rbac.yaml` for a namespace. Their names end with it, so that two installations do not share
 * them, and bindings refer to the renamed roles.
 */
export function rolesFor(objects: readonly KubeObject[], namespace: string): KubeObject[] {
  const renamed = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  return objects.map((object) => {
    const { roleRef, ...rest } = withNamespace(object, namespace) as KubeObject & { roleRef?: RoleRef };
    const named = { ...rest, metadata: { ...rest.metadata, name: `${object.metadata.name}-${namespace}` } };
    if (roleRef === undefined) return named;
    const follows = renamed.has(`${roleRef.kind}/${roleRef.name}`);
    return { ...named, roleRef: follows ? { ...roleRef, name: `${roleRef.name}-${namespace}` } : roleRef };
  });
}

interface RoleRef {
  kind: string;
  name: string;
}

/** Replaces the namespace everywhere, like `flux install`, which thereby changes the subjects of the bindings. */
function withNamespace<T>(value: T, namespace: string): T {
  if (namespace === RELEASE_NAMESPACE) return value;
  return JSON.parse(JSON.stringify(value).replaceAll(RELEASE_NAMESPACE, namespace));
}
