/**
 * The steps between a valid configuration and its delivery, loaded together on demand: runs that end early, such as those of
 * hibernated Shoots, deletions and errors, need none of the code that renders objects.
 */
export { makePlan } from './plan/plan.ts';
export { readPlanParts } from './read/plan-parts.ts';
