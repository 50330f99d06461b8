import { FLUX_CONFIG, RECONCILE_AT, SUSPENDED } from '../../shared/config/project-config.ts';
import { type Suspension, suspensionOf } from '../../shared/config/suspension.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { OPERATION_ANNOTATION, type Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, type ObjectName, type Resource, resources } from '../../shared/kube/resource.ts';
import { unseenOr } from './fleet.ts';
import { whoAmI } from './who.ts';

/** The field manager of what people write with commands. */
const fieldManager = 'shoot-flux-cli';

/** gardenlet changes a Shoot every few seconds while it works. */
const ATTEMPTS = 5;

type Annotations = Record<string, string | null>;

/**
 * Changes annotations of the object as it was read, so that nobody's change is lost.
 * @param decide returns the annotations, `null` for those that go; throws where the object as it is must not change
 * @returns the object before; undefined: it does not exist
 */
export async function annotate<T extends KubeObject>(
  garden: KubeClient,
  kind: Resource,
  name: ObjectName,
  decide: (object: T) => Annotations,
): Promise<T | undefined> {
  const what = `${kind.kind} ${name.namespace}/${name.name}`;
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const object = await garden.find<T>(kind, name);
      if (object === undefined) return undefined;
      const { uid, resourceVersion } = object.metadata;
      const metadata = { uid, resourceVersion, annotations: decide(object) };
      if (Object.keys(metadata.annotations).length === 0) return object;
      try {
        await garden.mergePatch(kind, name, { metadata }, { fieldManager });
        return object;
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error;
      }
    }
  } catch (error) {
    throw unseenOr(error, `annotate ${what}`, name.namespace);
  }
  throw new ShootFluxError(`${what} changes all the time; run the command again`);
}

/** Changes annotations of a project's `flux-config`. @throws ShootFluxError where it does not exist */
export async function annotateConfig(
  garden: KubeClient,
  namespace: string,
  decide: (object: KubeObject) => Annotations,
): Promise<KubeObject> {
  const found = await annotate(garden, resources.configMaps, { namespace, name: FLUX_CONFIG }, decide);
  if (found !== undefined) return found;
  throw new ShootFluxError(
    `Namespace ${namespace} has no ConfigMap ${FLUX_CONFIG}; create it (docs/configuration.md), or name one Shoot`,
  );
}

/** Asks Flux in all Shoots of a project to reconcile now. */
export async function requestAll(garden: KubeClient, namespace: string, now: Date): Promise<void> {
  await annotateConfig(garden, namespace, ({ metadata }) => {
    const who = suspensionOf(metadata.annotations);
    if (who === undefined) return { [RECONCILE_AT]: now.toISOString() };
    throw new ShootFluxError(`Namespace ${namespace} is suspended ${who}; resume it first: shoot-flux resume`);
  });
}

/**
 * Suspends Flux in all Shoots of a project.
 * @returns who has suspended it before, when and why; undefined: nobody
 */
export async function suspend(garden: HttpKubeClient, namespace: string, reason: string, now: Date) {
  const since = `${now.toISOString().slice(0, 19)}Z`;
  const suspension: Suspension = { by: (await whoAmI(garden)) ?? 'an unknown user', since, reason };
  const before = await annotateConfig(garden, namespace, ({ metadata }) =>
    suspensionOf(metadata.annotations) === undefined ? { [SUSPENDED]: JSON.stringify(suspension) } : {},
  );
  return suspensionOf(before.metadata.annotations);
}

/** Takes a suspension back. @returns who had suspended the project, when and why; undefined: nobody */
export async function resume(garden: KubeClient, namespace: string): Promise<string | undefined> {
  const before = await annotateConfig(garden, namespace, ({ metadata }) =>
    suspensionOf(metadata.annotations) === undefined ? {} : { [SUSPENDED]: null },
  );
  return suspensionOf(before.metadata.annotations);
}

/** Asks Flux in one Shoot to reconcile now: Gardener shows an annotation to extensions when it reconciles the Shoot. */
export async function requestOne(garden: KubeClient, namespace: string, name: string, now: Date): Promise<void> {
  const found = await annotate(garden, resources.shoots, { namespace, name }, (object: KubeObject & Shoot) => {
    const problem = problemOf(object);
    if (problem !== undefined) throw new ShootFluxError(`Shoot ${namespace}/${name} ${problem}`);
    return { [RECONCILE_AT]: now.toISOString(), [OPERATION_ANNOTATION]: 'reconcile' };
  });
  if (found === undefined) throw new ShootFluxError(`Shoot ${namespace}/${name} does not exist; check its name`);
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
