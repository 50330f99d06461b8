import type { Shoot } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { causeToPassOn, changesFor } from './decide.ts';

/** Shoots are large (tens of kilobytes); a page must not take a function's whole memory or time. */
const PAGE = 250;

/** Sends a page's changes before the next page is read, so that a project of any size gets through. */
export const handler: Handler = async (key, context) => {
  const garden = await context.kube(key.cluster);
  const cause = causeToPassOn(context.causes, context.now());
  let next: string | undefined;
  let sent = 0;
  do {
    const page = await garden.list<KubeObject & Shoot>(resources.shoots, {
      namespace: key.namespace,
      limit: PAGE,
      continue: next,
    });
    const changes = page.items.flatMap((shoot) => changesFor(shoot, context.settings.seeds, cause));
    if (changes.length > 0) await context.send(changes);
    sent += changes.length;
    next = page.continue;
  } while (next !== undefined);
  context.log.info('changes sent to the Extensions of the project', { changes: sent });
  return done;
};
