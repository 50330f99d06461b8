import { SUSPENDED } from '../../../shared/config/project-config.ts';
import {
  contentSecretName,
  isCurrent,
  managedResourceNames as names,
} from '../../../shared/gardener/managed-resource.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { managing } from '../plan/scope.ts';
import { type ControlPlane, readContent } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { isFluxRef, isSuspended, objectRef } from '../shoot/objects.ts';
import { writeContent, writeManagedResource } from './deliver.ts';
import { applying } from './restored.ts';

/** Kinds that have `spec.suspend` in every release of Flux, and work on their own. */
const suspendedKinds: ReadonlySet<string> = new Set([
  ...['GitRepository', 'OCIRepository', 'Bucket', 'HelmRepository', 'HelmChart', 'Kustomization', 'HelmRelease'],
  ...['ImageRepository', 'ImageUpdateAutomation'],
]);

/**
 * Returns the objects as they are while a project is suspended, or as they are without. An annotation tells them from
 * those that the configuration suspends, and says in the shoot who has suspended them.
 * @param suspension who and why; undefined: the project is not suspended
 */
export function withSuspension(objects: readonly KubeObject[], suspension: string | undefined): KubeObject[] {
  return objects.map((object) => {
    const plain = resumed(object);
    const mayBe = suspendedKinds.has(object.kind) && isFluxRef(objectRef(object)) && !isSuspended(plain);
    if (suspension === undefined || !mayBe) return plain;
    const annotations = { ...plain.metadata.annotations, [SUSPENDED]: suspension };
    const spec = { ...(plain.spec as object), suspend: true };
    return { ...plain, metadata: { ...plain.metadata, annotations }, spec };
  });
}

function resumed(object: KubeObject): KubeObject {
  const { [SUSPENDED]: mark, ...others } = object.metadata.annotations ?? {};
  if (mark === undefined) return object;
  const { annotations: _, ...metadata } = object.metadata;
  const { suspend: __, ...spec } = object.spec as Record<string, unknown>;
  return { ...object, metadata: { ...metadata, ...(Object.keys(others).length > 0 && { annotations: others }) }, spec };
}

/**
 * Suspends or resumes what the shoot was given last, before anything else is decided: an incident waits for no wave, and
 * for no configuration that is valid (decision 93).
 * @returns undefined where it is as it should be
 */
export async function followSuspension(
  run: Run,
  { previous, live }: ControlPlane,
  suspension: string | undefined,
): Promise<Outcome | undefined> {
  const { reporter, seed, namespace } = run;
  const name = names.sync;
  const [resource, recorded] = [managing(live, name), previous?.managedResources[name]];
  if (previous === undefined || resource === undefined || recorded === undefined) return undefined;
  if (previous.suspension === suspension && isCurrent(resource, recorded)) return undefined;
  const content = await readContent(run, resource);
  if (content === undefined) return undefined;
  const objects = withSuspension(content, suspension);
  const secretName = contentSecretName(name, objects);
  if (isCurrent(resource, secretName)) return undefined;
  const managedResources = { ...previous.managedResources, [name]: secretName };
  await reporter.processing(applying(previous.fluxVersion), { applied: { ...previous, suspension, managedResources } });
  await writeContent(seed, namespace, name, objects);
  await writeManagedResource(seed, namespace, name, secretName, resource);
  return requeueAfter(1);
}
