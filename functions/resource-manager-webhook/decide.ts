import { asObject, asString } from '../../shared/config/values.ts';
import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import type { JsonPatchOperation } from '../../shared/kube/json-patch.ts';
import { endOfFlags, FLAG, namespacesIn } from './arguments.ts';
import { imageProblem } from './image.ts';

/** What the resource-manager of a Shoot should be able to write into. */
export interface Wanted {
  namespaces: string[];
  /** Why these may not be all. */
  doubts: string[];
}

/** Whether an answer needs `Wanted` at all: it is nothing of ours, or is left alone whatever is wanted. */
export function leftAlone({ object }: AdmissionRequest): AdmissionAnswer | undefined {
  const deployment = asObject(object);
  if (asObject(deployment?.metadata)?.name !== RESOURCE_MANAGER) return { allowed: true };
  const problem = problemOf(containerOf(deployment));
  return problem === undefined ? undefined : { allowed: true, warnings: [warning(problem)] };
}

/**
 * Adds the flags that are missing, and those that the Deployment had: what is there may be somebody else's, and Flux
 * stays in its namespace whatever the configuration says by now.
 */
export function decide({ object, oldObject }: AdmissionRequest, { namespaces, doubts }: Wanted): AdmissionAnswer {
  const container = containerOf(asObject(object));
  if (container === undefined) return { allowed: true };
  const before = namespacesIn(commandLine(containerOf(asObject(oldObject))));
  const present = namespacesIn(commandLine(container));
  // In the order that is there: another one would restart the resource-manager for nothing.
  const missing = [...new Set([...before, ...namespaces])].filter((namespace) => !present.includes(namespace));
  return { allowed: true, patch: patchOf(container, missing), warnings: doubts.map(warning) };
}

interface Container {
  index: number;
  image: string;
  command: string[];
  /** Undefined where there is no list. */
  args: string[] | undefined;
}

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

function problemOf(container: Container | undefined): string | undefined {
  return container === undefined ? `it has no container ${RESOURCE_MANAGER}` : imageProblem(container.image);
}

/** In place, so that an index counts in the original list too. */
function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).map((entry) => asString(entry) ?? '');
}

/** What the process gets: flags may stand in the command as well. */
function commandLine(container: Container | undefined): string[] {
  return container === undefined ? [] : [...container.command, ...(container.args ?? [])];
}

/** The new flags come last, or before the `--` that ends the flags, wherever it stands. */
function patchOf({ index, command, args }: Container, namespaces: string[]): JsonPatchOperation[] {
  const container = `/spec/template/spec/containers/${index}`;
  const flags = namespaces.map((namespace) => `${FLAG}=${namespace}`);
  if (flags.length === 0) return [];
  const end = endOfFlags([...command, ...(args ?? [])]);
  if (end >= command.length && args === undefined) return [{ op: 'add', path: `${container}/args`, value: flags }];
  const [list, start] = end < command.length ? ['command', end] : ['args', end - command.length];
  return flags.map((value, offset) => ({ op: 'add', path: `${container}/${list}/${start + offset}`, value }));
}

function warning(reason: string): string {
  return `shoot-flux: ${RESOURCE_MANAGER}: ${reason}`;
}
