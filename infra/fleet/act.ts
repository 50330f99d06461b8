import { FLUX_CONFIG, RECONCILE_AT, SUSPENDED } from '../../shared/config/project-config.ts';
import { type Suspension, suspensionOf } from '../../shared/config/suspension.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { OPERATION_ANNOTATION, type Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError, ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { type KubeObject, type ObjectName, type Resource, resources } from '../../shared/kube/resource.ts';
import { orUnseen } from './fleet.ts';

/** The field manager of what people write with commands. */
const fieldManager = 'shoot-flux-cli';

/** gardenlet changes a Shoot every few seconds while it works. */
const ATTEMPTS = 5;

type Annotations = Record<string, string | null>;

/**
 * Changes annotations of the object as it was read, so that nobody's change is lost.
 * @param decide returns the annotations, `null` for those that go; throws where the object as it is must not change
 * @returns the object before
 * @throws ShootFluxError, with the sentence `absent` where the object does not exist
 */
async function annotate<T extends KubeObject>(
  garden: KubeClient,
  kind: Resource,
  name: ObjectName,
  absent: string,
  decide: (object: T) => Annotations,
): Promise<T> {
  const what = `${kind.kind} ${name.namespace}/${name.name}`;
  const seen = <A>(answer: Promise<A>) => orUnseen(answer, `annotate ${what}`, name.namespace);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const object = await seen(garden.find<T>(kind, name));
    if (object === undefined) throw new ShootFluxError(absent);
    const { uid, resourceVersion } = object.metadata;
    const metadata = { uid, resourceVersion, annotations: decide(object) };
    if (Object.keys(metadata.annotations).length === 0) return object;
    const patch = garden.mergePatch(kind, name, { metadata }, { fieldManager });
    if ((await seen(unless(patch, ConflictError))) !== undefined) return object;
  }
  throw new ShootFluxError(`${what} changes all the time; run the command again`);
}

/** Changes annotations of a project's `flux-config`. @throws ShootFluxError where it does not exist */
export function annotateConfig(garden: KubeClient, namespace: string, decide: (object: KubeObject) => Annotations) {
  const absent = `Namespace ${namespace} has no ConfigMap ${FLUX_CONFIG}; create it (docs/configuration.md)`;
  return annotate(garden, resources.configMaps, { namespace, name: FLUX_CONFIG }, absent, decide);
}

/**
 * Suspends Flux in all Shoots of a project, unless somebody has before.
 * @param suspension undefined: takes it back
 * @returns who had suspended the project, when and why; undefined: nobody
 */
export async function setSuspension(garden: KubeClient, namespace: string, suspension: Suspension | undefined) {
  const { metadata } = await annotateConfig(garden, namespace, ({ metadata }) => {
    const isSuspended = suspensionOf(metadata.annotations) !== undefined;
    if (isSuspended === (suspension !== undefined)) return {};
    return { [SUSPENDED]: suspension === undefined ? null : JSON.stringify(suspension) };
  });
  return suspensionOf(metadata.annotations);
}

/** Asks Flux in all Shoots of a project to reconcile now. @param resume the command that resumes a suspended project */
export async function requestAll(garden: KubeClient, namespace: string, now: Date, resume: string): Promise<void> {
  await annotateConfig(garden, namespace, (config) => {
    refuseSuspended(config, resume);
    return { [RECONCILE_AT]: now.toISOString() };
  });
}

/** Asks Flux in one Shoot to reconcile now: Gardener shows an annotation to extensions when it reconciles the Shoot. */
export async function requestOne(
  garden: KubeClient,
  namespace: string,
  name: string,
  now: Date,
  resume: string,
): Promise<void> {
  // Whoever may not read it may still change a Shoot.
  const config = await unless(garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG }), ForbiddenError);
  if (config !== undefined) refuseSuspended(config, resume);
  const absent = `Shoot ${namespace}/${name} does not exist; check its name`;
  await annotate(garden, resources.shoots, { namespace, name }, absent, (object: KubeObject & Shoot) => {
    const problem = problemOf(object);
    if (problem !== undefined) throw new ShootFluxError(`Shoot ${namespace}/${name} ${problem}`);
    return { [RECONCILE_AT]: now.toISOString(), [OPERATION_ANNOTATION]: 'reconcile' };
  });
}

/** @throws ShootFluxError where the project of this `flux-config` is suspended */
function refuseSuspended({ metadata: { namespace, annotations } }: KubeObject, resume: string): void {
  const who = suspensionOf(annotations);
  if (who === undefined) return;
  throw new ShootFluxError(`Namespace ${namespace} is suspended ${who}; resume it first: ${resume}`);
}

/** Returns why a Shoot cannot be asked, with the remedy. */
function problemOf({ metadata, spec, status }: Shoot): string | undefined {
  const operation = metadata.annotations?.[OPERATION_ANNOTATION];
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted, so that Flux there is asked nothing';
  if (spec?.hibernation?.enabled === true) return 'is hibernated, so that Flux does not run; wake the Shoot up first';
  // gardener-apiserver takes up no other annotation then.
  if (status?.lastOperation?.state === 'Failed')
    return `has failed, and Gardener reconciles it no more; annotate it with ${OPERATION_ANNOTATION}=retry first`;
  if (operation === undefined || operation === 'reconcile') return undefined;
  return `waits for Gardener to carry out the annotation ${OPERATION_ANNOTATION}; run the command again when it is gone`;
}
