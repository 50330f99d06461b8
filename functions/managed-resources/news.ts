import { resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Run } from './run.ts';

/**
 * True when nothing but its ManagedResources has woken a run, beside its own recheck: what was recorded goes on. Such a run
 * may leave out what other runs are certain to do: those for a request, an edit, a Secret of the project, and the hourly
 * resync (decision 65).
 */
export function isNewsOfApplying({
  context,
  isAsked,
}: Pick<Run, 'isAsked'> & { context: { causes: readonly Cause[] } }): boolean {
  const { causes } = context;
  if (isAsked || !causes.some(isOfManagedResource)) return false;
  // With attempts, it is the retry of a run that may have had any cause.
  return causes.every(
    (cause) => isOfManagedResource(cause) || (cause.type === 'notBefore' && cause.attempt === undefined),
  );
}

function isOfManagedResource(cause: Cause): boolean {
  return cause.type === 'object' && cause.kind === resources.managedResources.kind;
}
