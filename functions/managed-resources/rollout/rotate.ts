import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { contentSecretName } from '../../../shared/gardener/managed-resource-content.ts';
import { writeContent, writeManagedResource } from '../deliver/by-managed-resource.ts';
import type { Plan } from '../plan/plan.ts';
import { rotatedCopies } from '../plan/project-copies.ts';
import { type ControlPlane, readContent } from '../read/control-plane.ts';
import type { Run } from '../run.ts';

/**
 * Delivers rotated Secrets of the project to a Shoot that keeps its configuration. The control plane says what the shoot
 * has, not the record: a run that was killed after it had recorded the rotation is repeated.
 */
export async function deliverRotated(run: Run, plan: Plan, { previous, live }: ControlPlane): Promise<void> {
  const { reporter, seed, namespace } = run;
  const name = names.secrets;
  const resource = live.get(name);
  if (resource === undefined || resource.metadata.deletionTimestamp !== undefined) return;
  if (previous?.projectCopies === undefined || previous.delivery === 'Direct') return;
  if (isCurrent(resource, plan.record.managedResources[name] ?? '')) return;
  const content = await readContent(run, resource);
  if (content === undefined) return;
  const next = { objects: plan.contents.get(name) ?? [], ofProject: plan.record.projectCopies ?? [] };
  const objects = rotatedCopies({ objects: content, ofProject: previous.projectCopies }, next);
  if (objects === undefined) return;
  const secretName = contentSecretName(name, objects);
  await reporter.record({ ...previous, managedResources: { ...previous.managedResources, [name]: secretName } });
  await writeContent(seed, namespace, name, objects);
  await writeManagedResource(seed, namespace, name, secretName, resource);
}
