import { FLUX_STATUS, STATUS_OWNER } from '../../shared/config/project-config.ts';
import { CREATION_REFUSED } from '../../shared/gardener/creation-refused.ts';
import { type EventSubject, eventAbout } from '../../shared/gardener/event.ts';
import { countOf, type Line, MOST_KEYS } from '../../shared/gardener/status-map.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';

/** Returns the Event on the Shoot; the same one for the same transition, whenever a run reports it. */
export function transitionEvent(
  shoot: Shoot,
  health: 'healthy' | 'unhealthy',
  { line, published, since }: { line: Line; published: Line | undefined; since: string },
  now: Date,
): KubeObject {
  const subject = subjectOf(shoot);
  const identity = [health, since, published?.since ?? ''];
  if (health === 'healthy') {
    return eventAbout(subject, { type: 'Normal', reason: 'FluxReady', message: 'Flux is Ready.' }, now, identity);
  }
  const message = `Flux is not Ready: ${safeText(line.sentence ?? '', LONGEST_SENTENCE)}`;
  return eventAbout(subject, { type: 'Warning', reason: 'FluxNotReady', message }, now, identity);
}

/** Conditions have been checked for secrets, and quote at most half of this. */
const LONGEST_SENTENCE = 1000;

/** Returns the Event on the Shoot that its state cannot be shown. */
export function refusedEvent(shoot: Shoot, message: string, now: Date): KubeObject {
  return eventAbout(subjectOf(shoot), { type: 'Warning', reason: CREATION_REFUSED, message }, now, [CREATION_REFUSED]);
}

function subjectOf({ metadata: { name, namespace = '', uid = '' } }: Shoot): EventSubject {
  return { apiVersion: apiVersionOf(resources.shoots), kind: resources.shoots.kind, namespace, name, uid };
}

/** Returns the Event on a ConfigMap of this name that is not ours, which is never changed. */
export function foreignEvent(map: KubeObject, now: Date): KubeObject {
  const { name, namespace = '', uid = '' } = map.metadata;
  const subject: EventSubject = { apiVersion: 'v1', kind: resources.configMaps.kind, namespace, name, uid };
  const isFull = countOf(map) > MOST_KEYS;
  const why = isFull ? `has more than ${MOST_KEYS} keys` : 'was not created by shoot-flux';
  const orLabel = isFull ? '' : `, or label it ${STATUS_OWNER.label}=${STATUS_OWNER.value},`;
  const message =
    `ConfigMap ${namespace}/${FLUX_STATUS} ${why} and is left alone; ` +
    `delete or rename it${orLabel} to see the state of Flux in your Shoots here.`;
  return eventAbout(subject, { type: 'Warning', reason: 'NotOurs', message }, now);
}
