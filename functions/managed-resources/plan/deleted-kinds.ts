import { COMPONENTS } from '../../../shared/config/checks.ts';
import { crdsOf, neededCrds } from '../../../shared/flux/needed-kinds.ts';
import { parseRef } from '../objects.ts';
import { formerCrds } from './former-crds.ts';
import type { Plan } from './plan.ts';

type Planned = Pick<Plan, 'record' | 'contents' | 'fluxRelease'>;

/** Refs of the recorded CRDs that no installed component has or reads. */
export function crdsToDelete(plan: Planned): string[] {
  const needed = neededCrds(plan.fluxRelease, plan.record.components);
  return formerCrds(plan).filter((ref) => !needed.has(nameOf(ref)));
}

/** Names of the components that may act on objects of these CRDs, and are not installed any more. */
export function formerControllers(
  crds: readonly string[],
  { record, fluxRelease }: Pick<Plan, 'record' | 'fluxRelease'>,
): string[] {
  const former = COMPONENTS.filter((component) => !record.components.includes(component));
  const names = crds.map(nameOf);
  const ofFormer = (component: string) => crdsOf(fluxRelease, component);
  const isKnown = (name: string) => former.some((component) => ofFormer(component).includes(name));
  // A kind that the release has dropped may be of any of them.
  if (!names.every(isKnown)) return former;
  return former.filter((component) => ofFormer(component).some((name) => names.includes(name)));
}

function nameOf(ref: string): string {
  return parseRef(ref).name.name;
}
