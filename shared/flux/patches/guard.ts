import { isDeepStrictEqual } from 'node:util';
import { isReserved } from '../../config/reserved-keys.ts';
import { asObject } from '../../config/values.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation } from '../customisation.ts';
import { podProblem } from './pod-guard.ts';
import { policyProblem } from './policy-guard.ts';

/** Objects that an installation works without. Everything else has an option, or is needed. */
const removable: Record<string, RegExp> = {
  NetworkPolicy: /./,
  ResourceQuota: /./,
  // They add Flux's kinds to the roles edit and view of the cluster.
  ClusterRole: /^flux-(edit|view)-/,
};

/** Returns why a patch may not delete an object. */
export function deletionProblem({ kind, metadata }: KubeObject): string | undefined {
  if (Object.hasOwn(removable, kind) && removable[kind]?.test(metadata.name)) return undefined;
  return `deletes ${kind} ${metadata.name}, which the installation needs; remove the directive $patch`;
}

/** Objects that decide what Flux may do, and which objects it knows. */
const FIXED = ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding', 'CustomResourceDefinition', 'Namespace'];

/** Returns why an object may not become another one. */
export function patchProblem(before: KubeObject, after: KubeObject, customisation: Customisation): string | undefined {
  const what = `${before.kind} ${before.metadata.name}`;
  return (
    identityProblem(before, after, what) ??
    metadataProblem(before, after, what) ??
    fixedProblem(before, after, what) ??
    (before.kind === 'Deployment'
      ? (podProblem(before, after, what) ??
        selectorProblem(before, after, what) ??
        policyProblem(before, after, what, customisation))
      : undefined)
  );
}

/** An API server refuses another one: the installation could neither be changed nor upgraded. */
function selectorProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const selectorOf = ({ spec }: KubeObject) => asObject(spec)?.selector;
  return isDeepStrictEqual(selectorOf(before), selectorOf(after))
    ? undefined
    : `changes the selector of ${what}, which cannot change once it is installed; remove it`;
}

function identityProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const identity = ({ apiVersion, kind, metadata }: KubeObject) => {
    const { name, namespace } = (metadata ?? {}) as Partial<KubeObject['metadata']>;
    return [apiVersion, kind, name, namespace];
  };
  return isDeepStrictEqual(identity(before), identity(after))
    ? undefined
    : `changes the kind, name or namespace of ${what}; a patch can only change the fields of an installed object`;
}

function metadataProblem(
  { metadata: before }: KubeObject,
  { metadata: after }: KubeObject,
  what: string,
): string | undefined {
  const known = ['name', 'namespace', 'labels', 'annotations'];
  const other = Object.keys(after).find((field) => !known.includes(field) && !Object.hasOwn(before, field));
  if (other !== undefined) return `sets metadata.${other} of ${what}; remove it`;
  for (const map of ['labels', 'annotations'] as const) {
    if (asObject(after[map] ?? {}) === undefined) return `sets metadata.${map} of ${what} to no object; correct it`;
    const [old, next] = [before[map] ?? {}, after[map] ?? {}];
    if (old === next) continue;
    const taken =
      Object.keys(next).find((key) => old[key] !== next[key] && isManaged(key)) ??
      Object.keys(old).find((key) => next[key] === undefined && isManaged(key));
    if (taken !== undefined)
      return `changes the key ${taken} of ${what}, which says how the object is managed; remove it`;
    const wrong = Object.keys(next).find((key) => next[key] !== undefined && typeof next[key] !== 'string');
    if (wrong !== undefined) return `sets the key ${wrong} of ${what} to a value that is not a text; put it in quotes`;
  }
  return undefined;
}

/** Kubernetes' own keys are free where they only concern the object, such as the Pod Security Standard of a namespace. */
function isManaged(key: string): boolean {
  const isOfObject = /^(pod-security\.kubernetes\.io|prometheus\.io|service\.kubernetes\.io)\//.test(key);
  return isReserved(key) && !isOfObject;
}

function fixedProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  if (!FIXED.includes(before.kind)) return undefined;
  const content = ({ metadata: _, ...rest }: KubeObject) => rest;
  return isDeepStrictEqual(content(before), content(after))
    ? undefined
    : `changes ${what}, which decides what Flux may do; only its labels and annotations can be patched`;
}
