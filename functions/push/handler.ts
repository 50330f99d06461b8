import { FLUX_PUSH } from '../../shared/config/project-config.ts';
import { EVERY_REPOSITORY, repositoryId } from '../../shared/config/push.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { isOurs } from '../../shared/gardener/gate.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { unlessGone } from '../../shared/kube/errors.ts';
import { type KubeObject, resource, resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done } from '../../shared/runtime/outcome.ts';

const fieldManager = 'shoot-flux-push';

/** The annotation with which `flux reconcile` asks the controllers, too. */
const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';

const gitRepositories = resource('source.toolkit.fluxcd.io', 'v1', 'gitrepositories', 'GitRepository');

/** A GitRepository, as far as it is read. */
interface Source extends KubeObject {
  spec?: { url?: unknown; suspend?: unknown };
}

/** The others fetch at their interval. */
const MOST_SOURCES = 500;

/** A shoot that does not answer soon holds up no other: its Flux fetches at its interval. */
const TIMEOUT_MS = 3_000;

/**
 * Asks the sources in the shoot that read a pushed repository to fetch. A shoot that cannot be reached, for example
 * because it has just been hibernated, is no error.
 */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const found = await seed.find(resources.extensions, key);
  if (found === undefined || !hasFlux(extensionOf(found))) return done;
  const ask = async (shoot: KubeClient) => {
    try {
      context.log.info('sources asked', { sources: await askSources(shoot, context) });
    } catch (error) {
      if (!(error instanceof ShootFluxError)) throw error;
      context.log.info('sources not asked', { error: describeError(error) });
    }
  };
  await withShoot({ seed, namespace: key.namespace, context }, ask, { timeoutMs: TIMEOUT_MS });
  return done;
};

/** Only what is ours, and here to stay, is touched. */
function hasFlux(extension: Extension): boolean {
  const { metadata, status } = extension;
  const isLeaving = metadata.deletionTimestamp !== undefined || status?.lastOperation?.type === 'Migrate';
  return isOurs(extension) && !isLeaving && status?.state?.applied !== undefined;
}

/** @returns how many sources were asked */
async function askSources(shoot: KubeClient, { causes, now }: Context): Promise<number> {
  const { repositories, value } = pushIn(causes, now());
  const page = await unlessGone(shoot.list<Source>(gitRepositories, { limit: MOST_SOURCES, onUnreadable: () => {} }));
  const asked = (page?.items ?? []).filter(({ metadata, spec }) => {
    const id = typeof spec?.url === 'string' ? repositoryId(spec.url) : undefined;
    const isPushed = repositories === undefined || (id !== undefined && repositories.has(id));
    return isPushed && spec?.suspend !== true && metadata.annotations?.[REQUESTED_AT] !== value;
  });
  const patch = { metadata: { annotations: { [REQUESTED_AT]: value } } };
  await Promise.all(
    asked.map(({ metadata }) => unlessGone(shoot.mergePatch(gitRepositories, metadata, patch, { fieldManager }))),
  );
  return asked.length;
}

/**
 * Returns which repositories were pushed, undefined for all, and the value that asks for it: the same in every attempt.
 * Where a transport has replaced the cause by that of a retry, all sources are asked, which does no harm.
 */
export function pushIn(causes: readonly Cause[], now: Date) {
  const pushes = causes.flatMap((cause) => (cause.type === 'object' && cause.name === FLUX_PUSH ? [cause] : []));
  const ids = pushes.flatMap(({ also = EVERY_REPOSITORY }) => also.split(','));
  const isEvery = pushes.length < causes.length || pushes.length === 0 || ids.includes(EVERY_REPOSITORY);
  return {
    repositories: isEvery ? undefined : new Set(ids),
    value:
      pushes
        .map(({ resourceVersion }) => resourceVersion)
        .sort()
        .at(-1) ?? now.toISOString(),
  };
}
