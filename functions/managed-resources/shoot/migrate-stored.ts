import { isCrd } from '../../../shared/flux/custom-resources.ts';
import { isCurrent, managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, NotFoundError } from '../../../shared/kube/errors.ts';
import { type KubeObject, type ObjectMeta, type Resource, resources } from '../../../shared/kube/resource.ts';
import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { safeText } from '../../../shared/runtime/safe-text.ts';
import type { Plan } from '../plan/plan.ts';
import {
  type Migration,
  mayDropVersions,
  migratedFields,
  migrationOf,
  outlineOf,
  rejectsStoredVersions,
  widenedVersions,
} from '../plan/stored-versions.ts';
import { applyAgain, type ControlPlane, fieldManager, retryApply } from '../read/control-plane.ts';
import { type Run, retryLater } from '../run.ts';
import { everyPage, patchAsRead } from './act.ts';
import { servedKind } from './objects.ts';

/**
 * Migrates stored objects before the CRDs of another release are delivered (decision 58); the installed one keeps
 * running.
 * @returns undefined when the plan can be delivered
 */
export async function migrateStoredObjects(
  run: Run,
  plan: Plan,
  { live, previous }: ControlPlane,
  liveVersion: string | undefined,
): Promise<Outcome | undefined> {
  const { context, isTimeUp, reporter, seed } = run;
  const { fluxVersion, managedResources } = plan.record;
  // An earlier run has begun a migration, maybe to another release: what it has changed is not in the ManagedResource.
  const { upgradingTo } = reporter.current().status?.state ?? {};
  if (!mayDropVersions(plan, { previous, live }, liveVersion, upgradingTo)) return undefined;
  const begin = async (sentence: string) => {
    // Once: a shoot that refuses must not go back and forth between Processing and Error. A record of the release says the same.
    const isKnown = upgradingTo === fluxVersion || previous?.fluxVersion === fluxVersion;
    if (!isKnown) await reporter.processing(sentence, { upgradingTo: fluxVersion });
  };
  const task = { crds: plan.contents.get(names.crds) ?? [], fluxVersion, now: context.now(), isTimeUp, begin };
  const migrated = await withShoot(run, (shoot) => migrateStored(shoot, task));
  if (migrated !== undefined && migrated.state !== 'done') {
    const report = migrated.state === 'refused' ? reporter.failed : reporter.processing;
    await report(migrated.sentence, { upgradingTo: fluxVersion });
    await reporter.accept();
    return migrated.state === 'refused' ? retryLater(run) : requeueAfter(migrated.recheckInSeconds);
  }
  // Without a kubeconfig, the API server decides. Another content is written anyway, guarded by the version that was read.
  const crds = live.get(names.crds);
  if (migrated === undefined || crds === undefined || !isCurrent(crds, managedResources[names.crds] ?? ''))
    return undefined;
  const hasBegun = upgradingTo !== undefined || (previous !== undefined && previous.fluxVersion !== fluxVersion);
  if (hasBegun) await applyAgain(seed, crds);
  else if (rejectsStoredVersions(crds)) await retryApply(seed, [crds]);
  return undefined;
}

/** A CRD in the shoot, that of the release, and what has to be migrated between them. */
interface Outstanding extends Migration {
  crd: KubeObject;
  next: KubeObject;
}

/** How far the stored objects of a shoot are migrated. */
export type Migrated =
  | { state: 'done' }
  | { state: 'unfinished'; sentence: string; recheckInSeconds: number }
  /** The shoot rejects an object or a CRD; the sentence names it, with the remedy. */
  | { state: 'refused'; sentence: string };

interface MigrationTask {
  /** The objects of the release, with its CRDs. */
  crds: KubeObject[];
  fluxVersion: string;
  now: Date;
  isTimeUp: () => boolean;
  /** Called before the first write to the shoot. */
  begin?: (sentence: string) => Promise<void>;
}

/**
 * Several API servers may serve a shoot: each notices a changed CRD within moments, and stores as before until then.
 */
const KNOWN_AFTER_SECONDS = 5;

/** On a CRD while its objects are migrated: the generation of the CRD, and the last object that is rewritten. */
const PROGRESS = 'flux.extensions.gardener.cloud/migrated-up-to';
const ALL = '*';
/** When the CRD got the version beside those of the running controllers, by our clock. */
const WIDENED = 'flux.extensions.gardener.cloud/widened-at';

/**
 * Stores the objects of Flux in versions that the CRDs of a release have, as `flux migrate` does, so that the API server
 * accepts these CRDs. A CRD whose stored version the release has dropped first gets the version that the release stores,
 * beside those that the running controllers use. Safe to repeat, also after a kill.
 */
export async function migrateStored(shoot: KubeClient, task: MigrationTask): Promise<Migrated> {
  const found = await inParallel(task.crds.filter(isCrd), async (next) => {
    const live = await shoot.find(resources.customResourceDefinitions, next.metadata);
    return live === undefined ? [] : [{ crd: outlineOf(live), next, migration: migrationOf(live, next) }];
  });
  const crds = found.flat();
  const outstanding = crds.flatMap(({ crd, next, migration }) => (migration ? [{ ...migration, crd, next }] : []));
  if (outstanding.length === 0) return done(shoot, crds);
  await task.begin?.(sentenceOf(task));
  try {
    return await migrateAll(shoot, outstanding, task);
  } catch (error) {
    // For moments after its CRD has changed: a version is not known everywhere, or "storage is (re)initializing".
    const isNotServedYet = error instanceof NotFoundError || (error instanceof KubeError && error.status === 429);
    if (isNotServedYet) return unfinished(task, 2);
    if (!(error instanceof RejectedObject)) throw error;
    return { state: 'refused', sentence: `Flux ${task.fluxVersion} cannot be installed before ${error.message}` };
  }
}

async function migrateAll(shoot: KubeClient, outstanding: Outstanding[], task: MigrationTask): Promise<Migrated> {
  const narrow = outstanding.filter(({ isNarrow }) => isNarrow);
  await inParallel(narrow, (one) => widen(shoot, one, task.now));
  if (narrow.length > 0) return unfinished(task, KNOWN_AFTER_SECONDS);
  const unknownFor = Math.max(...outstanding.map(({ crd }) => secondsUntilKnown(crd, task.now)));
  if (unknownFor > 0) return unfinished(task, unknownFor);
  // Those with stored objects first: once they are done, nothing of them has to be read again.
  const inOrder = outstanding.toSorted((one, other) => Number(other.isStored) - Number(one.isStored));
  const migrated: { crd: KubeObject }[] = [];
  for (const migration of inOrder) {
    if (task.isTimeUp() && migrated.length > 0) return unfinished(task, 1);
    const { crd, isDone } = await migrateOne(shoot, migration, task.isTimeUp);
    if (!isDone) return unfinished(task, 1);
    migrated.push({ crd });
  }
  return done(shoot, migrated);
}

/** Adds the version of the release to a CRD, which is read again: all of them together may be too large to be kept. */
async function widen(shoot: KubeClient, { crd, next }: Outstanding, now: Date): Promise<void> {
  const live = await shoot.find(resources.customResourceDefinitions, crd.metadata);
  const versions = live && widenedVersions(live, next);
  if (live === undefined || versions === undefined) return;
  await patchCrd(shoot, live, { metadata: { annotations: { [WIDENED]: now.toISOString() } }, spec: { versions } });
}

/** Rewrites the objects of one CRD, and then removes the former versions from its status. */
async function migrateOne(
  shoot: KubeClient,
  migration: Outstanding,
  isTimeUp: () => boolean,
): Promise<{ crd: KubeObject; isDone: boolean }> {
  const { crd, to, isStored } = migration;
  const kind = servedKind(crd);
  if (kind === undefined) return { crd, isDone: true };
  const before = progressOf(crd);
  const after = before === ALL ? ALL : await rewriteAll(shoot, { ...kind, version: to }, migration, before, isTimeUp);
  const isDone = after === ALL;
  // A short migration leaves no mark at all.
  const annotations = { [PROGRESS]: `${crd.metadata.generation} ${after}` };
  const marked = isTimeUp() && after !== before ? await patchCrd(shoot, crd, { metadata: { annotations } }) : crd;
  if (!isDone || !isStored) return { crd: marked, isDone };
  return { crd: await patchCrd(shoot, marked, { status: { storedVersions: [to] } }, 'status'), isDone };
}

async function done(shoot: KubeClient, crds: { crd: KubeObject }[]): Promise<Migrated> {
  const annotations = { [PROGRESS]: null, [WIDENED]: null };
  const marked = crds.filter(({ crd }) => Object.keys(annotations).some((mark) => crd.metadata.annotations?.[mark]));
  await inParallel(marked, ({ crd }) => patchCrd(shoot, crd, { metadata: { annotations } }));
  return { state: 'done' };
}

function unfinished(task: MigrationTask, recheckInSeconds: number): Migrated {
  return { state: 'unfinished', sentence: sentenceOf(task), recheckInSeconds };
}

function sentenceOf({ fluxVersion }: MigrationTask): string {
  return `Storing the objects in the shoot in the versions of Flux ${fluxVersion} before it is installed.`;
}

/** Guarded: everything that was read of the CRD has to be true still. */
async function patchCrd(
  shoot: KubeClient,
  { metadata }: KubeObject,
  patch: { metadata?: object; spec?: object; status?: object },
  subresource?: 'status',
): Promise<KubeObject> {
  const guarded = { ...patch, metadata: { ...patch.metadata, resourceVersion: metadata.resourceVersion } };
  const options = { fieldManager, ...(subresource && { subresource }) };
  return outlineOf(await shoot.mergePatch(resources.customResourceDefinitions, metadata, guarded, options));
}

/** Another generation may store in another version, so that everything has to be rewritten. */
function progressOf({ metadata }: KubeObject): string {
  const [generation, after = ''] = (metadata.annotations?.[PROGRESS] ?? '').split(' ');
  return generation === String(metadata.generation) ? after : '';
}

/** A status of the CRD says nothing about how its objects are stored. */
function secondsUntilKnown({ metadata }: KubeObject, now: Date): number {
  const { annotations, managedFields = [] } = metadata;
  const written = managedFields.filter(({ subresource }) => subresource !== 'status').map(({ time }) => time);
  // The clock of the shoot may differ from ours, so a time to come counts like one of the past.
  const ages = [...written, annotations?.[WIDENED]]
    .map((time) => Math.abs(now.getTime() - Date.parse(time ?? '')) / 1000)
    .filter((age) => !Number.isNaN(age));
  return Math.ceil(Math.max(0, KNOWN_AFTER_SECONDS - Math.min(...ages)));
}

/** The shoot does not accept an object as it is. The message is the end of a sentence. */
class RejectedObject extends Error {
  override name = 'RejectedObject';
}

/**
 * Writes the objects of a kind again, so that the API server stores them, and their managed fields name, another
 * version.
 * @param after what an earlier run has reached; objects before it are skipped
 * @returns what is reached, in the order of the API server
 * @throws NotFoundError while the API server does not serve the version yet, RejectedObject
 */
async function rewriteAll(
  shoot: KubeClient,
  kind: Resource,
  migration: Migration,
  after: string,
  isTimeUp: () => boolean,
): Promise<string> {
  let reached = after;
  let last = '';
  let isOrdered = true;
  const isDone = await everyPage(shoot, kind, { metadataOnly: true, isTimeUp, mustBeServed: true }, async (items) => {
    for (const item of items) {
      isOrdered &&= last < keyOf(item);
      last = keyOf(item);
    }
    const rest = items.filter((item) => keyOf(item) > after);
    const wanted = rest.filter(
      ({ metadata }) => migration.isStored || migratedFields(metadata.managedFields, migration) !== undefined,
    );
    const written = await inParallel(wanted, (item) => rewrite(shoot, kind, item, migration), isTimeUp);
    const isComplete = written.length === wanted.length;
    const end = isComplete ? items.at(-1) : wanted[written.length - 1];
    if (end !== undefined && keyOf(end) > reached) reached = keyOf(end);
    return isComplete;
  });
  if (isDone) return ALL;
  // Without the order of the keys, nothing is known about those before.
  return isOrdered ? reached : '';
}

async function rewrite(shoot: KubeClient, kind: Resource, item: KubeObject, migration: Migration): Promise<void> {
  const migrated = (metadata: ObjectMeta) => {
    const managedFields = migratedFields(metadata.managedFields, migration);
    return managedFields === undefined ? {} : { metadata: { managedFields } };
  };
  try {
    await patchAsRead(shoot, kind, item.metadata, migrated, item);
  } catch (error) {
    if (!(error instanceof KubeError) || !isRefused(error)) throw error;
    throw new RejectedObject(
      `${kind.kind} ${keyOf(item)} is stored in version ${kind.version}, and the shoot rejects to store it; correct it in the shoot, or exempt it from the webhook or policy that rejects it. The API server says: ${safeText(error.message)}`,
    );
  }
}

/** As etcd sorts them. */
function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
