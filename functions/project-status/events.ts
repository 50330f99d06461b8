import { FLUX_STATUS, STATUS_OWNER } from '../../shared/config/project-config.ts';
import { CREATION_REFUSED } from '../../shared/gardener/creation-refused.ts';
import { eventAbout, normal, warning } from '../../shared/gardener/event.ts';
import { countOf, type Line, MOST_KEYS } from '../../shared/gardener/status-map.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { transition } from './shown-line.ts';

/** Returns the Event of a transition; the same one whenever a run reports it, and undefined where there is none. */
export function transitionEvent(
  shoot: Shoot,
  { line, published, since }: { line: Line; published: Line | undefined; since: string },
  now: Date,
): KubeObject | undefined {
  const health = transition(published, line, since, now);
  if (health === undefined) return undefined;
  const identity = [health, since, published?.since ?? ''];
  const notice =
    health === 'healthy'
      ? normal('FluxReady', 'Flux is Ready.')
      : warning('FluxNotReady', `Flux is not Ready: ${safeText(line.sentence ?? '', LONGEST_SENTENCE)}`);
  return eventAbout(resources.shoots, shoot.metadata, notice, now, identity);
}

/** Conditions have been checked for secrets, and quote at most half of this. */
const LONGEST_SENTENCE = 1000;

/** Returns the Event on the Shoot that its state cannot be shown. */
export function refusedEvent(shoot: Shoot, message: string, now: Date): KubeObject {
  const notice = warning(CREATION_REFUSED, message);
  return eventAbout(resources.shoots, shoot.metadata, notice, now, [CREATION_REFUSED]);
}

/** Returns the Event on a ConfigMap of this name that is not ours, which is never changed. */
export function foreignEvent(map: KubeObject, now: Date): KubeObject {
  const isFull = countOf(map) > MOST_KEYS;
  const why = isFull ? `has more than ${MOST_KEYS} keys` : 'was not created by shoot-flux';
  const orLabel = isFull ? '' : `, or label it ${STATUS_OWNER.label}=${STATUS_OWNER.value},`;
  const message =
    `ConfigMap ${map.metadata.namespace}/${FLUX_STATUS} ${why} and is left alone; ` +
    `delete or rename it${orLabel} to see the state of Flux in your Shoots here.`;
  return eventAbout(resources.configMaps, map.metadata, warning('NotOurs', message), now);
}
