import { EVERY_REPOSITORY, repositoryId } from '../../shared/config/push.ts';
import { asString } from '../../shared/config/values.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { isOurs } from '../../shared/gardener/gate.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { unlessGone } from '../../shared/kube/errors.ts';
import { type KubeObject, resource, resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done } from '../../shared/runtime/outcome.ts';

/** The annotation with which `flux reconcile` asks the controllers, too. */
const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';

const gitRepositories = resource('source.toolkit.fluxcd.io', 'v1', 'gitrepositories', 'GitRepository');

type Source = KubeObject & { spec?: { url?: unknown; suspend?: unknown } };

/** The others fetch at their interval. */
const MOST_SOURCES = 500;

/** A shoot that does not answer soon holds up no other. */
const TIMEOUT_MS = 3_000;

/**
 * Asks the sources in the shoot that read a pushed repository to fetch. A shoot that cannot be reached, for example
 * because it has just been hibernated, is no error: its Flux fetches at its interval.
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
  // Of the cause of `fan-out`. Where that of a retry has replaced it, all sources are asked, which does no harm.
  const pushes = causes.map((cause) => (cause.type === 'object' ? cause : undefined));
  const ids = new Set(pushes.flatMap((push) => (push?.also ?? EVERY_REPOSITORY).split(',')));
  // The same in every attempt.
  const times = pushes.flatMap((push) => push?.resourceVersion ?? []).sort();
  const value = times.at(-1) ?? now().toISOString();
  const page = await unlessGone(shoot.list<Source>(gitRepositories, { limit: MOST_SOURCES, onUnreadable: () => {} }));
  const asked = (page?.items ?? []).filter(({ metadata, spec }) => {
    const id = repositoryId(asString(spec?.url) ?? '') ?? '';
    const isPushed = ids.has(EVERY_REPOSITORY) || ids.has(id);
    return isPushed && spec?.suspend !== true && metadata.annotations?.[REQUESTED_AT] !== value;
  });
  const patch = { metadata: { annotations: { [REQUESTED_AT]: value } } };
  const options = { fieldManager: 'shoot-flux-push' };
  await Promise.all(
    asked.map(({ metadata }) => unlessGone(shoot.mergePatch(gitRepositories, metadata, patch, options))),
  );
  return asked.length;
}
