import type { Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { causeToForward, changesFor } from './decide.ts';

/** Sends `managed-resources` one change for each Shoot of the project, with the key of its Extension in the seed. */
export const handler: Handler = async ({ cluster, namespace }, context) => {
  const garden = await context.kube(cluster);
  const cause = causeToForward(context.causes, context.now());
  let sent = 0;
  for await (const shoots of shootsOf(garden, namespace)) {
    const changes = shoots.flatMap((shoot) => changesFor(shoot, context.settings.seeds, cause));
    if (changes.length > 0) await context.send(changes);
    sent += changes.length;
  }
  context.log.info('changes forwarded', { changes: sent });
  return done;
};

/** Shoots are large (tens of kilobytes each); a page of this size fits into a function's memory and time. */
const PAGE_SIZE = 250;

/** Lists the Shoots of a project in pages. The changes of one page are sent before the next page is read. */
async function* shootsOf(garden: KubeClient, namespace: string): AsyncGenerator<Shoot[]> {
  let next: string | undefined;
  do {
    const options = { namespace, limit: PAGE_SIZE, continue: next };
    const page = await garden.list<KubeObject & Shoot>(resources.shoots, options);
    yield page.items;
    next = page.continue;
  } while (next !== undefined);
}
