import type { KubeObject } from '../../shared/kube/resource.ts';
import type { PolicyRule } from '../../shared/runtime/definition.ts';

/** A request of a user, as far as RBAC compares it with rules. */
export interface Need {
  user: string;
  verb: string;
  group: string;
  /** Plural of the resource, with `/status` or another subresource. */
  resource: string;
  /** Empty for a request in the whole cluster. */
  namespace: string;
  /** Empty for a request that names no object. */
  name: string;
}

/** The least that could be removed from a rule: one verb for one resource, and for one name where the rule has names. */
export interface Right {
  /** The role that contains it. */
  role: string;
  /** The subjects of the role. */
  users: string[];
  verb: string;
  group: string;
  resource: string;
  /** Absent: every object. */
  name: string | undefined;
  /** Absent: every namespace. */
  namespace: string | undefined;
}

/** Returns the rights that roles and their bindings contain. */
export function rightsOf(objects: KubeObject[]): Right[] {
  return objects.filter(isRole).flatMap(({ kind, metadata, rules }) => {
    const bindings = objects.filter((object) => binds(object, kind, metadata));
    const role = { role: metadata.name, users: [...new Set(bindings.flatMap(usersOf))], namespace: metadata.namespace };
    return (rules as PolicyRule[]).flatMap((rule) => partsOf(rule).map((part) => ({ ...role, ...part })));
  });
}

/** True if the right permits the request. No rule of ours has a wildcard, and here one would permit nothing. */
export function grants(right: Right, need: Need): boolean {
  return (
    right.users.includes(need.user) &&
    right.verb === need.verb &&
    right.group === need.group &&
    right.resource === need.resource &&
    (right.name === undefined || right.name === need.name) &&
    (right.namespace === undefined || right.namespace === need.namespace)
  );
}

/** Returns one sentence for each right that could be removed without a request being refused. */
export function dispensable(rights: Right[], needs: Need[]): string[] {
  return rights.flatMap((right) => {
    const served = needs.filter((need) => grants(right, need));
    if (served.length === 0) return [`${text(right)}: no request needs it; remove it`];
    const others = served.map((need) => rights.find((other) => other !== right && grants(other, need)));
    const [other] = others;
    if (other === undefined || others.includes(undefined)) return [];
    return [`${text(right)}: ${other.role} grants the same; remove one of both`];
  });
}

function text({ role, verb, group, resource, name }: Right): string {
  const object = group === '' ? resource : `${resource}.${group}`;
  return `${role}: ${verb} ${object}${name === undefined ? '' : ` ${name}`}`;
}

function partsOf({ apiGroups, resources, verbs, resourceNames }: PolicyRule) {
  const names = resourceNames ?? [undefined];
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.flatMap((verb) => names.map((name) => ({ group, resource, verb, name })))),
  );
}

const isRole = ({ kind }: KubeObject) => kind === 'ClusterRole' || kind === 'Role';

function binds({ kind, metadata, roleRef }: KubeObject, role: string, of: KubeObject['metadata']): boolean {
  return kind === `${role}Binding` && metadata.namespace === of.namespace && (roleRef as Named).name === of.name;
}

function usersOf({ subjects = [] }: KubeObject & { subjects?: Named[] }): string[] {
  return subjects.map(({ kind, namespace, name }) =>
    kind === 'ServiceAccount' ? `system:serviceaccount:${namespace}:${name}` : name,
  );
}

interface Named {
  kind: string;
  namespace?: string;
  name: string;
}
