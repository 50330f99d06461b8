import { protection } from '../../../shared/flux/install.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { unlessGone } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ManagedFields, type ObjectMeta, resource } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { fieldsAt } from '../../../shared/shapes.ts';
import type { Plan } from '../plan/plan.ts';
import { union } from '../plan/stored-versions.ts';
import { fieldManager } from '../read/control-plane.ts';
import type { Run } from '../run.ts';
import { patchAsRead } from './act.ts';
import { HELM_RELEASE, KUSTOMIZE, MANAGED_BY, MARKED, OPERATOR } from './installed-flux.ts';
import { builtInKinds, objectRef, parseRef } from './objects.ts';
import { namespaceRef } from './protection.ts';

const RECONCILE = `${OPERATOR}/reconcile`;

const fluxInstances = resource(OPERATOR, 'v1', 'fluxinstances', 'FluxInstance');

/**
 * Takes over a Flux that others have installed, where the configuration asks for it (decision 60).
 * @returns undefined when the plan can be delivered
 */
export async function adoptForeignFlux(
  run: Run,
  { contents, record }: Plan,
  { isForeign }: { isForeign: boolean },
): Promise<Outcome | undefined> {
  if (!isForeign || !contents.has(names.crds)) {
    await run.reporter.record({ foreign: undefined });
    return undefined;
  }
  const installed = [names.crds, names.controllers].flatMap((name) => contents.get(name) ?? []);
  const refs = new Set([namespaceRef(record), ...installed.map(objectRef)]);
  // Recorded before the first write, so that whatever ends the adoption can remove the protection again.
  const recorded = { upgradingTo: record.fluxVersion, adopting: [...refs] };
  await run.reporter.processing('Taking over the Flux in the shoot.', recorded);
  await run.reporter.accept();
  const isDone = await withShoot(run, (shoot) => adoptObjects(shoot, [...refs], run.isTimeUp));
  if (isDone !== true) return requeueAfter(1);
  await run.reporter.record({ foreign: undefined });
  return undefined;
}

/**
 * Makes the objects of a Flux that others manage ours, so that these neither apply nor prune them any more. Nothing is
 * deleted and no Pod restarts. Safe to repeat, also after a kill.
 * @returns false when the time was up before
 */
async function adoptObjects(shoot: KubeClient, refs: string[], isTimeUp: () => boolean): Promise<boolean> {
  // flux-operator leaves objects alone, and does not remove them either, while its FluxInstance is disabled.
  await annotateInstances(shoot, 'disabled');
  // Without its marks a later run would find nothing to adopt.
  const last = refs.filter((ref) => ref.endsWith(`/${MARKED}`));
  const others = refs.filter((ref) => !last.includes(ref));
  const adopted = await inParallel(others, (ref) => adoptOne(shoot, ref), isTimeUp);
  if (adopted.length < others.length) return false;
  await inParallel(last, (ref) => adoptOne(shoot, ref));
  return true;
}

/** Enables the FluxInstances again that an adoption has disabled which does not come to its end. */
export function restartOperator(shoot: KubeClient): Promise<void> {
  return annotateInstances(shoot, null, isDisabledByUs);
}

async function annotateInstances(
  shoot: KubeClient,
  reconcile: 'disabled' | null,
  isWanted: (instance: KubeObject) => boolean = () => true,
): Promise<void> {
  const found = await unlessGone(shoot.list(fluxInstances, { metadataOnly: true, limit: 50 }));
  await inParallel((found?.items ?? []).filter(isWanted), ({ metadata: { resourceVersion, ...name } }) => {
    // Guarded where it depends on what was read.
    const guard = reconcile === null ? { resourceVersion } : {};
    const metadata = { ...guard, annotations: { [RECONCILE]: reconcile } };
    return unlessGone(shoot.mergePatch(fluxInstances, name, { metadata }, { fieldManager }));
  });
}

/** `managedFields` names the writer of every annotation. */
function isDisabledByUs({ metadata: { annotations, managedFields = [] } }: KubeObject): boolean {
  const isOurs = ({ manager, fieldsV1 }: ManagedFields) =>
    manager === fieldManager && fieldsAt(fieldsV1, 'f:metadata', 'f:annotations')?.[`f:${RECONCILE}`] !== undefined;
  return annotations?.[RECONCILE] === 'disabled' && managedFields.some(isOurs);
}

async function adoptOne(shoot: KubeClient, ref: string): Promise<void> {
  const { type, name } = parseRef(ref);
  const kind = builtInKinds[type];
  if (kind === undefined) return;
  const adopted = (metadata: ObjectMeta) => ({ metadata: adoptedMetadata(metadata, protection, fieldManager) });
  await patchAsRead(shoot, kind, name, adopted);
}

/** Labels and annotations by which others recognise an object as theirs. */
const foreignLabels = [
  ...[KUSTOMIZE, OPERATOR].flatMap((group) => [`${group}/name`, `${group}/namespace`]),
  MANAGED_BY,
  'helm.sh/chart',
];
const foreignAnnotations = [
  HELM_RELEASE,
  'meta.helm.sh/release-namespace',
  'kubectl.kubernetes.io/last-applied-configuration',
];

/** Field managers of the tools that install Flux. */
const foreignManagers = /^(flux|flux-operator|flux-client-side-apply|kustomize-controller|helm|kubectl)/;

/**
 * Returns the metadata of a merge patch that makes an object ours: without the marks of others, and with the fields that
 * their tools have applied recorded as ours, so that an apply removes those that are not wanted.
 */
export function adoptedMetadata(
  { labels = {}, annotations = {}, managedFields = [] }: ObjectMeta,
  extra: Record<string, string>,
  ours: string,
): Record<string, unknown> {
  const nulls = (keys: string[], map: Record<string, string>) =>
    Object.fromEntries(keys.filter((key) => map[key] !== undefined).map((key) => [key, null]));
  const isTaken = ({ manager = '', subresource, operation }: ManagedFields) =>
    !subresource && (foreignManagers.test(manager) || (manager === ours && operation === 'Apply'));
  const taken = managedFields.filter(isTaken);
  const fieldsV1 = taken.reduce<Record<string, unknown>>((all, entry) => union(all, entry.fieldsV1), {});
  const joined = taken[0] && { ...taken[0], manager: ours, operation: 'Apply', fieldsV1 };
  const others = managedFields.filter((entry) => !isTaken(entry));
  return {
    labels: nulls(foreignLabels, labels),
    annotations: { ...nulls(foreignAnnotations, annotations), ...extra },
    ...(joined && { managedFields: [...others, joined] }),
  };
}
