import { isDeepStrictEqual } from 'node:util';
import { asObject, type JsonObject } from '../../config/values.ts';
import type { KubeObject } from '../../kube/resource.ts';

/** Returns why the Pods of a Deployment may not become others: the rights of its node and of other accounts. */
export function podProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const [old, pod] = [podOf(before), podOf(after)];
  const reason =
    ['hostNetwork', 'hostPID', 'hostIPC'].find((field) => pod[field] === true) ??
    listAt(pod, 'volumes').flatMap((volume) => (Object.hasOwn(volume, 'hostPath') ? ['a hostPath'] : []))[0] ??
    privilegeOf(asObject(pod.securityContext)) ??
    containersOf(pod)
      .map(containerReason)
      .find((found) => found !== undefined);
  if (reason !== undefined) return `gives ${what} the rights of its node (${reason}); remove it`;
  const accounts = ({ serviceAccountName, serviceAccount, automountServiceAccountToken }: JsonObject) => [
    serviceAccountName,
    serviceAccount,
    automountServiceAccountToken,
  ];
  if (!isDeepStrictEqual(accounts(old), accounts(pod))) {
    return `changes the ServiceAccount of ${what}, which decides what it may do; remove it`;
  }
  return undefined;
}

function containerReason(container: JsonObject): string | undefined {
  const hasHostPort = listAt(container, 'ports').some(({ hostPort }) => hostPort !== undefined);
  return hasHostPort ? 'a hostPort' : privilegeOf(asObject(container.securityContext));
}

function privilegeOf(context: JsonObject = {}): string | undefined {
  const { privileged, allowPrivilegeEscalation, capabilities, procMount, runAsNonRoot, runAsUser } = context;
  if (privileged === true) return 'privileged';
  if (allowPrivilegeEscalation === true) return 'allowPrivilegeEscalation';
  if (listOf(asObject(capabilities)?.add).length > 0) return 'capabilities';
  if (procMount !== undefined && procMount !== 'Default') return 'procMount';
  if (runAsNonRoot === false || runAsUser === 0) return 'root';
  return asObject(context.seccompProfile)?.type === 'Unconfined' ||
    asObject(context.appArmorProfile)?.type === 'Unconfined'
    ? 'an unconfined profile'
    : undefined;
}

/** Returns the Pods of a Deployment; empty where the field is missing. */
export function podOf({ spec }: KubeObject): JsonObject {
  return asObject(asObject(asObject(spec)?.template)?.spec) ?? {};
}

/** Returns all containers of Pods. */
export function containersOf(pod: JsonObject): JsonObject[] {
  return ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => listAt(pod, list));
}

/** Returns the objects in a list. */
export function listAt(object: JsonObject, field: string): JsonObject[] {
  return listOf(object[field])
    .map(asObject)
    .filter((entry) => entry !== undefined);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
