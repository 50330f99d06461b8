import { FLUX_SOURCE } from '../../../shared/config/project-config.ts';
import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Outcome, requeueAfter, sooner } from '../../../shared/runtime/outcome.ts';
import { reportUnapplied, writeContent, writeManagedResource } from '../deliver/deliver.ts';
import type { Plan } from '../plan/plan.ts';
import { type ControlPlane, readContent } from '../read/control-plane.ts';
import type { Run } from '../run.ts';

/** What an operation waits for in the meantime. */
const REAPPLYING =
  'Applying the last configuration, which is kept until the rollout in flux-status reaches this Shoot.';

/** How an operation ends while a Shoot waits for its turn. */
export const KEPT = 'The last applied configuration is kept until the rollout in flux-status reaches this Shoot.';

/**
 * Leaves the last applied objects unchanged, except for rotated Secrets of the project. gardenlet gets an answer, and
 * what fails is reported, as in a Shoot that does not wait.
 * @param seconds until the next check
 * @param problem what a person has to do for the rollout to go on, which `readiness` publishes
 */
export async function keepApplied(
  run: Run,
  plan: Plan,
  controlPlane: ControlPlane,
  seconds: number,
  problem = plan.record.problem,
): Promise<Outcome> {
  const { previous, live } = controlPlane;
  // Its deletion policy may be a new one, and an older problem solved.
  if (previous !== undefined) await run.reporter.record({ applied: { ...previous, problem } });
  await deliverRotated(run, plan, controlPlane);
  const { reporter, isAsked } = run;
  const outcome = requeueAfter(seconds);
  const unapplied = await reportUnapplied(run, previous ?? { managedResources: {} }, live, REAPPLYING);
  if (unapplied !== undefined) return sooner(outcome, unapplied);
  if (!isAsked && !reporter.isInFlight()) return outcome;
  await reporter.succeeded(KEPT);
  await reporter.finish();
  return outcome;
}

/**
 * Delivers rotated Secrets of the project to a Shoot that keeps its configuration. The control plane says what the shoot
 * has, not the record: a run that was killed after it had recorded the rotation is repeated.
 */
async function deliverRotated(run: Run, plan: Plan, { previous, live }: ControlPlane): Promise<void> {
  const { reporter, seed, namespace } = run;
  const name = names.secrets;
  const resource = live.get(name);
  if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) return;
  if (previous?.projectCopies === undefined) return;
  if (isCurrent(resource, plan.record.managedResources[name] ?? '')) return;
  const content = await readContent(run, resource);
  if (content === undefined) return;
  const next = { objects: plan.contents.get(name) ?? [], ofProject: plan.record.projectCopies ?? [] };
  const objects = rotatedCopies({ objects: content, ofProject: previous.projectCopies }, next);
  if (objects === undefined) return;
  const secretName = contentSecretName(name, objects);
  const managedResources = { ...previous.managedResources, [name]: secretName };
  await reporter.record({ applied: { ...previous, managedResources } });
  await writeContent(seed, namespace, name, objects);
  await writeManagedResource(seed, namespace, name, secretName, resource);
}

/** The copies of a configuration, and those among them that are of Secrets of the project. */
interface Copies {
  objects: readonly KubeObject[];
  ofProject: readonly string[];
}

/**
 * Returns the copies of the kept configuration with what the Secrets of the project contain now. Contents that a Secret has
 * because of the next configuration stay out: a copy of another Secret, another kind of credentials, other host keys.
 * @returns undefined where nothing differs
 */
export function rotatedCopies(kept: Copies, next: Copies): KubeObject[] | undefined {
  const common = kept.ofProject.filter((copy) => next.ofProject.includes(copy));
  const objects = kept.objects.map((object) => {
    const copy = common.find((one) => object.kind === 'Secret' && one.endsWith(` ${placeOf(object)}`));
    const other = next.objects.find(({ kind, ...one }) => kind === 'Secret' && placeOf(one) === placeOf(object));
    if (copy === undefined || other === undefined || isEqual(object.data, other.data)) return object;
    return isRotation(copy, object, other) ? { ...object, data: other.data } : object;
  });
  return objects.some((object, index) => object !== kept.objects[index]) ? objects : undefined;
}

function placeOf({ metadata: { namespace = '', name } }: Pick<KubeObject, 'metadata'>): string {
  return `${namespace}/${name}`;
}

/** `keys` writes the host keys into `flux-source`, and the configuration decides about the keys that it needs. */
function isRotation(copy: string, one: KubeObject, other: KubeObject): boolean {
  if (one.type !== other.type) return false;
  if (!copy.startsWith(`${FLUX_SOURCE} `)) return true;
  const [before = {}, after = {}] = [one, other].map(({ data }) => (data ?? {}) as Record<string, string>);
  const hasSameKeys = isEqual(Object.keys(before).sort(), Object.keys(after).sort());
  return hasSameKeys && before.known_hosts === after.known_hosts;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
