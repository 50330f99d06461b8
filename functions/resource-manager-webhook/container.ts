import { asObject, asString } from '../../shared/config/values.ts';
import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { JsonPatchOperation } from '../../shared/kube/admission.ts';

/** The flag of the resource-manager that adds a namespace of the shoot to its target namespaces; repeatable. */
export const FLAG = '--extra-target-namespace';

/** The container of the resource-manager in its Deployment. */
export interface Container {
  index: number;
  image: string;
  command: string[];
  /** Undefined when there is no list. */
  args: string[] | undefined;
}

/** Finds the container in a Deployment, which may be malformed. */
export function containerOf(deployment: Record<string, unknown> | undefined): Container | undefined {
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
export function namespacesOf(container: Container | undefined): string[] {
  const words = container === undefined ? [] : commandLine(container);
  const flags = words.slice(0, endOfFlags(words));
  const values = flags.flatMap((argument, index) => {
    if (argument.startsWith(`${FLAG}=`)) return [argument.slice(FLAG.length + 1)];
    return argument === FLAG ? [flags[index + 1] ?? ''] : [];
  });
  return values.flatMap((value) => value.split(',')).filter((namespace) => namespace !== '');
}

/** Returns the patch that adds target namespaces: at the end, or before a `--` that ends the flags. */
export function patchToAdd(namespaces: string[], container: Container): JsonPatchOperation[] {
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
