import { setTimeout as sleep } from 'node:timers/promises';
import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import { changesFor } from '../../shared/gardener/shoot-changes.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AnswerTooLargeError, GoneError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { done, type Outcome } from '../../shared/runtime/outcome.ts';
import { type ForwardedCause, forwardedCause, readVersions, rebuildCause } from './forwarded-cause.ts';
import { definition } from './function.ts';
import { beginning, continuation, next, type Position } from './position.ts';

/** How long a run begins new pages; a page may take as long as a call, and the function has ten seconds. */
const PAGES_MS = 4_000;

/**
 * After a page, the API server and this process are free for others for this share of the time that the page took:
 * 5,000 Shoots are 65 MB to encode, send and decode.
 */
const REST = 0.5;

/**
 * Sends one change for each Shoot of the project, with the key of its Extension in the seed: to `managed-resources`, or to
 * `project-status` where `flux-status` has to be written again.
 */
export const handler: Handler = (key, context) => fanOut(key, context, PAGES_MS);

/** As `handler`. @param pagesMs when the time is up, a follow-up change carries the rest */
export async function fanOut(key: ReconcileKey, context: Context, pagesMs: number): Promise<Outcome> {
  const started = performance.now();
  const garden = await context.kube(key.cluster);
  const isStatus = key.name === FLUX_STATUS;
  const cause = isStatus
    ? rebuildCause(key, context.causes)
    : forwardedCause(key, await readVersions(garden, key), context.causes);
  const receiver = isStatus ? 'project-status' : 'managed-resources';
  const pages = pagesOf(garden, key.namespace, (error) => {
    // Its resync reaches it; the Shoots after it do not wait for it.
    context.log.warn('shoot skipped', { error: error.message });
  });
  let position: Position | undefined = beginning(context.causes);
  let sent = 0;
  for (;;) {
    const before = performance.now();
    const page = await pages(position);
    const took = performance.now() - before;
    const changes = page.shoots.flatMap((shoot) => changesFor(shoot, context.settings.seeds, cause, receiver));
    if (changes.length > 0) await context.send(changes);
    sent += changes.length;
    position = next(position, page.names, page.token);
    const rest = took * REST;
    // The next page begins after the rest: it must leave the time that a page may take.
    if (position === undefined || performance.now() - started + rest >= pagesMs) break;
    await sleep(rest);
  }
  if (position !== undefined) await sendRest(key, context, position, cause);
  context.log.info('changes forwarded', { changes: sent, ...(position !== undefined && { after: position.after }) });
  return done;
}

async function sendRest(key: ReconcileKey, context: Context, position: Position, forwarded: ForwardedCause) {
  const rest = continuation(position, forwarded);
  // Too many Shoots, or an API server that takes seconds for each: their resync reaches the others.
  if (rest === undefined) context.log.warn('changes not forwarded', { after: position.after });
  else await context.send([{ function: definition.name, key, cause: rest }]);
}

/** A page of so many Shoots arrives within moments, although each Shoot may have some hundred kilobytes. */
const PAGE = 100;

/** Lists the Shoots of a project in pages that fit into an answer. */
function pagesOf(garden: KubeClient, namespace: string, onUnreadable: (error: Error) => void) {
  let limit = PAGE;
  let hasExpired = false;
  return async ({ after, token }: Position) => {
    for (let from = token; ; ) {
      try {
        const options = { namespace, limit, continue: from, onUnreadable };
        const page = await garden.list<KubeObject & Shoot>(resources.shoots, options);
        const names = page.items.map(({ metadata }) => metadata.name);
        // A list is sorted by name.
        return { shoots: page.items.filter(({ metadata }) => metadata.name > after), names, token: page.continue };
      } catch (error) {
        if (error instanceof AnswerTooLargeError && limit > 1) {
          // Not again in this run: the Shoots of a project are of similar size.
          limit = Math.ceil(limit / 4);
        } else if (error instanceof GoneError && from !== undefined && !hasExpired) {
          // An API server keeps the state of a list for some minutes. Restart it only once: if each page expired at once,
          // the list would never end.
          hasExpired = true;
          from = undefined;
        } else throw error;
      }
    }
  };
}
