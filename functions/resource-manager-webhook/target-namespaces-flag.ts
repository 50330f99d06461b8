import semver from 'semver';
import { asObject, asString } from '../../shared/config/values.ts';
import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest, JsonPatchOperation } from '../../shared/kube/admission.ts';

/** More than any Shoot has: Flux, its source and its Kustomization, and those of other extensions. */
const MOST_KEPT = 50;

/** The namespaces that the resource-manager of a Shoot should be able to write to. */
export interface TargetNamespaces {
  namespaces: string[];
  /** Why the list may be incomplete. */
  warnings: string[];
}

/**
 * Returns the answer for a Deployment that is not changed, whatever the configuration: it is not a resource-manager, or
 * one that may not support the flag. Undefined for any other.
 */
export function leaveUnchanged({ object }: AdmissionRequest): AdmissionAnswer | undefined {
  const deployment = asObject(object);
  if (asObject(deployment?.metadata)?.name !== RESOURCE_MANAGER) return { allowed: true };
  const container = containerOf(deployment);
  const problem = container === undefined ? `there is no container ${RESOURCE_MANAGER}` : imageProblem(container.image);
  return problem === undefined
    ? undefined
    : { allowed: true, warnings: [warning(`${FLAG} was not added: ${problem}`)] };
}

/**
 * Adds the missing target namespaces, including those that the Deployment had before: they may come from another
 * controller, and Flux stays in its namespace even when the configuration now names another one.
 */
export function addTargetNamespaces(
  { object, oldObject }: AdmissionRequest,
  target: TargetNamespaces,
): AdmissionAnswer {
  const container = containerOf(asObject(object));
  if (container === undefined) return { allowed: true };
  const before = namespacesOf(containerOf(asObject(oldObject)));
  const present = new Set(namespacesOf(container));
  const dropped = before.filter((namespace) => !present.has(namespace));
  const kept = dropped.slice(0, MOST_KEPT);
  // The existing order is kept: another one would restart the resource-manager for nothing.
  const missing = [...new Set([...kept, ...target.namespaces])].filter((namespace) => !present.has(namespace));
  const tooMany =
    dropped.length > MOST_KEPT
      ? [
          `${dropped.length - MOST_KEPT} target namespaces of the former Deployment were not kept: at most ${MOST_KEPT} are`,
        ]
      : [];
  return {
    allowed: true,
    patch: patchToAdd(missing, container),
    warnings: [...target.warnings, ...tooMany].map(warning),
  };
}

function warning(reason: string): string {
  return `shoot-flux: ${RESOURCE_MANAGER}: ${reason}`;
}

/** The flag of the resource-manager that adds a namespace of the shoot to its target namespaces; repeatable. */
const FLAG = '--extra-target-namespace';

/** The container of the resource-manager in its Deployment. */
interface Container {
  index: number;
  image: string;
  command: string[];
  /** Undefined when there is no list. */
  args: string[] | undefined;
}

/** Finds the container in a Deployment, which may be malformed. */
function containerOf(deployment: Record<string, unknown> | undefined): Container | undefined {
  const template = asObject(asObject(deployment?.spec)?.template);
  const containers = asObject(template?.spec)?.containers;
  if (!Array.isArray(containers)) return undefined;
  const index = containers.findIndex((container) => asObject(container)?.name === RESOURCE_MANAGER);
  const container = asObject(containers[index]);
  if (container === undefined) return undefined;
  const { image, command, args } = container;
  return {
    index,
    image: asString(image) ?? '',
    command: textsOf(command),
    args: Array.isArray(args) ? textsOf(args) : undefined,
  };
}

/** Returns the target namespaces of a container, in the forms `--flag=value`, `--flag value` and separated by commas. */
function namespacesOf(container: Container | undefined): string[] {
  const words = container === undefined ? [] : commandLine(container);
  const flags = words.slice(0, endOfFlags(words));
  const values = flags.flatMap((argument, index) => {
    if (argument.startsWith(`${FLAG}=`)) return [argument.slice(FLAG.length + 1)];
    return argument === FLAG ? [flags[index + 1] ?? ''] : [];
  });
  return values.flatMap((value) => value.split(',')).filter((namespace) => namespace !== '');
}

/** Returns the patch that adds target namespaces: at the end, or before a `--` that ends the flags. */
function patchToAdd(namespaces: string[], container: Container): JsonPatchOperation[] {
  if (namespaces.length === 0) return [];
  const { index, command, args } = container;
  const path = `/spec/template/spec/containers/${index}`;
  const flags = namespaces.map((namespace) => `${FLAG}=${namespace}`);
  const end = endOfFlags(commandLine(container));
  if (end >= command.length && args === undefined) return [{ op: 'add', path: `${path}/args`, value: flags }];
  const [list, start] = end < command.length ? ['command', end] : ['args', end - command.length];
  return flags.map((value, offset) => ({ op: 'add', path: `${path}/${list}/${start + offset}`, value }));
}

/** Returns everything that the process gets: the command may contain flags as well. */
function commandLine({ command, args }: Container): string[] {
  return [...command, ...(args ?? [])];
}

/** Returns the position of a lone `--`, after which nothing is a flag, or the end. */
function endOfFlags(words: readonly string[]): number {
  const end = words.indexOf('--');
  return end === -1 ? words.length : end;
}

/** Keeps the position of each entry, because the patch uses it. */
function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).map((entry) => asString(entry) ?? '');
}

/** The first Gardener whose resource-manager supports the flag (rule 3); older ones do not start with it. */
export const FIRST = '1.147.0';

const LONGEST_QUOTE = 200;

/** A greater number is the year of a date, not a version. */
const LAST_MAJOR = 99;

/** Returns why the resource-manager of this image must not get the flag; undefined when it supports it. */
function imageProblem(image: string): string | undefined {
  const tag = tagOf(image);
  if (tag === undefined) return `image ${cut(image)} has no tag`;
  const version = semver.parse(tag);
  if (version === null || version.major > LAST_MAJOR) return `image tag ${cut(tag)} is not a version`;
  if (semver.gte(version, FIRST)) return undefined;
  const isFirst = version.compareMain(FIRST) === 0;
  return `image version ${cut(tag)} ${isFirst ? `may be older than v${FIRST}` : 'is older than v1.147'}`;
}

/** Reads the tag of `registry:5000/path/name:tag@digest`: a colon before the last slash belongs to the port. */
function tagOf(image: string): string | undefined {
  const name = image.split('@')[0]?.split('/').at(-1) ?? '';
  return name.split(':')[1];
}

/** The image is quoted in a warning and in the log. */
function cut(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}
