import { type EventContent, eventAbout } from '../../shared/gardener/event.ts';
import { AlreadyExistsError } from '../../shared/kube/errors.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { fieldManager } from './read/control-plane.ts';
import type { Run } from './run.ts';

/**
 * Reports something as an Event of the Shoot in the garden, where project members look. The same sentence is one Event.
 * Best effort: nothing depends on it.
 */
export async function notifyShoot({ cluster, context }: Run, content: EventContent): Promise<void> {
  const { namespace = '', name, uid = '' } = cluster.spec.shoot.metadata;
  const subject = { apiVersion: apiVersionOf(resources.shoots), kind: resources.shoots.kind, namespace, name, uid };
  try {
    const garden = await context.kube(GARDEN);
    await garden.create(resources.events, eventAbout(subject, content, context.now()), { fieldManager });
  } catch (error) {
    if (error instanceof AlreadyExistsError) return;
    context.log.warn('event of the shoot not written', { error: describeError(error) });
  }
}
