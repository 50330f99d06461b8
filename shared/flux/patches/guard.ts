import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isReserved } from '../../config/checks.ts';
import { isAllowedImage } from '../../config/policy/judge.ts';
import type { Rule } from '../../config/policy/policy.ts';
import { quote, useOneOf } from '../../config/quote.ts';
import type { JsonObject } from '../../config/values.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { entriesAt, fieldsAt, isRecord, textAt } from '../../shapes.ts';
import type { Customisation } from '../deployment.ts';

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

/** Objects that decide what Flux may do, and which objects it knows: patches change only their metadata. */
export const FIXED = [
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'CustomResourceDefinition',
  'Namespace',
];

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
  const selectorOf = (deployment: KubeObject) => fieldsAt(deployment, 'spec')?.selector;
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
    if (!isRecord(after[map] ?? {})) return `sets metadata.${map} of ${what} to no object; correct it`;
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

/** Returns what the landscape's policy refuses in a patched Deployment. */
function policyProblem(
  before: KubeObject,
  after: KubeObject,
  what: string,
  { policy = {} }: Customisation,
): string | undefined {
  const { allowedRegistries, allowedRepositoryUrls, allowedVersions, requireMultiTenancy } = policy;
  return (
    (allowedRegistries && imageProblem(after, what, allowedRegistries)) ??
    (allowedVersions && versionProblem(before, after, what)) ??
    (requireMultiTenancy === true ? flagProblem(before, after, what) : undefined) ??
    (allowedRepositoryUrls && (proxyProblem(before, after, what) ?? nameProblem(before, after, what)))
  );
}

const refused = (rule: Rule) => `is not allowed by ${rule} in the policy of this landscape`;

function imageProblem(deployment: KubeObject, what: string, allowed: readonly string[]): string | undefined {
  const pod = podOf(deployment);
  const images = [
    ...containersOf(pod).map((container) => textAt(container, 'image') ?? ''),
    ...entriesAt(pod, 'volumes').flatMap((volume) => textAt(volume, 'image', 'reference') ?? []),
  ];
  const other = images.find((image) => {
    const slash = image.lastIndexOf('/');
    return !isAllowedImage(slash === -1 ? 'docker.io/library' : image.slice(0, slash), allowed);
  });
  if (other === undefined) return undefined;
  return `gives ${what} the image ${quote(other)}, which ${refused('allowedRegistries')}; ${useOneOf(allowed)}`;
}

/** The image of a controller is its release. */
function versionProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const containers = containersOf(podOf(after));
  const changed = containersOf(podOf(before)).find(
    ({ name, image }) => containers.find((container) => container.name === name)?.image !== image,
  );
  return changed === undefined
    ? undefined
    : `changes the image of container ${changed.name} of ${what}, which ${refused('allowedVersions')}; remove that, and set version`;
}

/** The flags of the lockdown. */
export const LOCKDOWN =
  /^--(no-cross-namespace-refs|no-remote-bases|default-service-account|default-\w[\w-]*-service-account)=/;

/** Any other argument might take the next one as its value, or end the flags. */
const FLAG = /^--[a-z][a-z0-9-]*=/;

/** The last flag of a name wins, so none may be added either. */
function flagProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const flags = (deployment: KubeObject) =>
    entriesAt(podOf(deployment), 'containers').map(({ name, args }) => ({
      name,
      flags: (Array.isArray(args) ? args : []).filter(
        (arg) => typeof arg !== 'string' || !FLAG.test(arg) || LOCKDOWN.test(arg),
      ),
    }));
  const commands = (deployment: KubeObject) => containersOf(podOf(deployment)).map(({ command }) => command ?? null);
  const isSame = isDeepStrictEqual(flags(before), flags(after)) && isDeepStrictEqual(commands(before), commands(after));
  return isSame
    ? undefined
    : `changes the containers, commands or flags of ${what} on which multi-tenancy depends, which ${refused('requireMultiTenancy')}; remove that, and write other flags as --name=value`;
}

/** A proxy decides what is read. */
function proxyProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const proxies = (deployment: KubeObject) =>
    containersOf(podOf(deployment)).flatMap((container) => {
      const env = entriesAt(container, 'env').filter(({ name }) => /_proxy$/i.test(String(name)));
      const envFrom = entriesAt(container, 'envFrom');
      return env.length > 0 || envFrom.length > 0 ? [{ env, envFrom }] : [];
    });
  return isDeepStrictEqual(proxies(before), proxies(after))
    ? undefined
    : `changes the proxy of ${what}, which ${refused('allowedRepositoryUrls')}; remove it, because the proxy would decide what is read`;
}

/** Fields of a Pod that decide which server has a name. */
const NAMES = ['hostAliases', 'dnsConfig', 'dnsPolicy'];

/** Environment variables that decide which servers are trusted. */
const TRUST = /^ssl_cert_/i;

/** Under the name of an allowed server, another one could answer. */
function nameProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const [old, pod] = [podOf(before), podOf(after)];
  const trusted = (of: JsonObject) =>
    containersOf(of).flatMap((container) => entriesAt(container, 'env').filter(({ name }) => TRUST.test(String(name))));
  const changed =
    NAMES.find((field) => !isDeepStrictEqual(old[field], pod[field])) ??
    (isDeepStrictEqual(trusted(old), trusted(pod)) ? undefined : 'SSL_CERT_FILE or SSL_CERT_DIR') ??
    containersOf(pod).flatMap(systemMounts)[0];
  return changed === undefined
    ? undefined
    : `changes the servers that ${what} reaches (${changed}), which ${refused('allowedRepositoryUrls')}; remove it, because another server could answer`;
}

/** Mounts over the files of the system that name servers and say which certificates are trusted. */
function systemMounts(container: JsonObject): string[] {
  return entriesAt(container, 'volumeMounts')
    .map(({ mountPath }) => posix.resolve('/', String(mountPath)))
    .filter((path) => /^\/(etc|usr)?(\/|$)/.test(path))
    .map((path) => `a volume at ${quote(path)}`);
}

/** Returns why the Pods of a Deployment may not become others: the rights of its node and of other accounts. */
function podProblem(before: KubeObject, after: KubeObject, what: string): string | undefined {
  const [old, pod] = [podOf(before), podOf(after)];
  if (Object.keys(pod).length === 0) return `removes the Pods of ${what}; remove that, or set replicas to 0`;
  const reason =
    ['hostNetwork', 'hostPID', 'hostIPC'].find((field) => pod[field] === true) ??
    entriesAt(pod, 'volumes').flatMap((volume) => (Object.hasOwn(volume, 'hostPath') ? ['a hostPath'] : []))[0] ??
    privilegeOf(fieldsAt(pod, 'securityContext')) ??
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
    if (pod.serviceAccountName === undefined)
      return `removes the ServiceAccount of ${what}, without which it may do nothing; change only the fields that should differ`;
    return `changes the ServiceAccount of ${what}, which decides what it may do; remove it`;
  }
  return undefined;
}

function containerReason(container: JsonObject): string | undefined {
  const hasHostPort = entriesAt(container, 'ports').some(({ hostPort }) => hostPort !== undefined);
  return hasHostPort ? 'a hostPort' : privilegeOf(fieldsAt(container, 'securityContext'));
}

function privilegeOf(context: JsonObject = {}): string | undefined {
  const { privileged, allowPrivilegeEscalation, procMount, runAsNonRoot, runAsUser } = context;
  if (privileged === true) return 'privileged';
  if (allowPrivilegeEscalation === true) return 'allowPrivilegeEscalation';
  const added = fieldsAt(context, 'capabilities')?.add;
  if (Array.isArray(added) && added.length > 0) return 'capabilities';
  if (procMount !== undefined && procMount !== 'Default') return 'procMount';
  if (runAsNonRoot === false || runAsUser === 0) return 'root';
  const profiles = ['seccompProfile', 'appArmorProfile'].map((profile) => textAt(context, profile, 'type'));
  return profiles.includes('Unconfined') ? 'an unconfined profile' : undefined;
}

/** Returns the Pods of a Deployment; empty where the field is missing. */
export function podOf(deployment: KubeObject): JsonObject {
  return fieldsAt(deployment, 'spec', 'template', 'spec') ?? {};
}

/** Returns all containers of Pods. */
function containersOf(pod: JsonObject): JsonObject[] {
  return ['containers', 'initContainers', 'ephemeralContainers'].flatMap((list) => entriesAt(pod, list));
}
