import { asObject } from '../../shared/config/values.ts';
import { RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import { containerOf, FLAG, namespacesOf, patchToAdd } from './container.ts';
import { imageProblem } from './image.ts';

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
export function decide({ object, oldObject }: AdmissionRequest, target: TargetNamespaces): AdmissionAnswer {
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
