import type { User } from './call.ts';
import { type ApiObject, asArray, asObject, asString, isObject, type JsonObject } from './json.ts';
import type { Registry } from './registry.ts';

/** A request to a resource, for authorization. */
export interface Attributes {
  verb: string;
  group: string;
  /** With the subresource: `secrets`, `extensions/status`. */
  resource: string;
  namespace: string;
  name: string;
}

const rbac = 'rbac.authorization.k8s.io';

/** Whether roles and bindings let the user do it. */
export function isAllowed(registry: Registry, user: User, attributes: Attributes): boolean {
  if (user.groups.includes('system:masters')) return true;
  const role = (kind: string, namespace: string, name: string): ApiObject | undefined =>
    kind === 'ClusterRole'
      ? registry.get(rbac, 'v1', 'clusterroles').store.get(name)
      : registry.get(rbac, 'v1', 'roles').store.get(`${namespace}/${name}`);
  const grants = (binding: ApiObject, namespace: string): boolean => {
    if (!asArray(binding.subjects).some((subject) => isObject(subject) && isSubject(user, subject, namespace)))
      return false;
    const reference = asObject(binding.roleRef);
    const found = role(asString(reference.kind), namespace, asString(reference.name));
    return asArray(found?.rules).some((rule) => isObject(rule) && covers(rule, attributes));
  };
  for (const binding of registry.get(rbac, 'v1', 'clusterrolebindings').store.values()) {
    if (grants(binding, '')) return true;
  }
  if (attributes.namespace === '') return false;
  for (const binding of registry.get(rbac, 'v1', 'rolebindings').store.values()) {
    if (binding.metadata.namespace === attributes.namespace && grants(binding, attributes.namespace)) return true;
  }
  return false;
}

function isSubject(user: User, subject: JsonObject, namespace: string): boolean {
  const name = asString(subject.name);
  if (subject.kind === 'User') return user.name === name;
  if (subject.kind === 'Group') return user.groups.includes(name);
  const home = asString(subject.namespace) || namespace;
  return subject.kind === 'ServiceAccount' && user.name === `system:serviceaccount:${home}:${name}`;
}

function covers(rule: JsonObject, { verb, group, resource, name }: Attributes): boolean {
  const has = (list: JsonObject[string], ...values: string[]) =>
    asArray(list).some((entry) => entry === '*' || values.includes(String(entry)));
  const [, subresource] = resource.split('/');
  const names = asArray(rule.resourceNames);
  return (
    has(rule.verbs, verb) &&
    has(rule.apiGroups, group) &&
    has(rule.resources, resource, ...(subresource === undefined ? [] : [`*/${subresource}`])) &&
    (names.length === 0 || names.includes(name))
  );
}

/** The message of a refusal, as the API server words it. */
export function forbiddenText(user: User, { verb, group, resource, namespace }: Attributes): string {
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.name}" cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
}
