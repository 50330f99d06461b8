import { hash } from 'node:crypto';
import { seconds } from '../../shared/gardener/operation.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Notice } from './notice.ts';

/** As in `events.k8s.io/v1`, so that clients of both forms show all of it. */
const LONGEST = 1024;

/** The Event that tells a notice; the same notice about the same ConfigMap has the same name, so it is told once. */
export function eventOf(configMap: KubeObject, { type, reason, message }: Notice, now: Date): KubeObject {
  const { namespace = '', name, uid = '' } = configMap.metadata;
  const note = message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message;
  const time = seconds(now.getTime());
  return {
    apiVersion: apiVersionOf(resources.events),
    kind: resources.events.kind,
    metadata: { namespace, name: `${name}.${hash('sha256', JSON.stringify([reason, note, uid])).slice(0, 16)}` },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name, uid },
    type,
    reason,
    message: note,
    source: { component: 'shoot-flux' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
