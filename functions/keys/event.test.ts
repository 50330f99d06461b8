import { expect, test } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { keyComment } from './comment.ts';
import { eventOf } from './event.ts';
import { normal, warning } from './notice.ts';

const configMap = (uid = 'uid-1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'garden-foo', name: 'flux-config', uid },
});
const now = new Date('2026-01-02T03:04:05.678Z');
const notice = warning('InvalidSecret', 'It is damaged.');
const nameOf = (...args: Parameters<typeof eventOf>) => eventOf(...args).metadata.name;

test('an Event names the ConfigMap and the time', () => {
  expect(eventOf(configMap(), notice, now)).toMatchObject({
    metadata: { namespace: 'garden-foo', name: expect.stringMatching(/^flux-config\.[0-9a-f]{16}$/) },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config', uid: 'uid-1' },
    type: 'Warning',
    reason: 'InvalidSecret',
    message: 'It is damaged.',
    firstTimestamp: '2026-01-02T03:04:05Z',
  });
});

test('the same notice has the same name at any time, every other one another', () => {
  const name = nameOf(configMap(), notice, now);
  expect(nameOf(configMap(), notice, new Date(0))).toBe(name);
  const others = [
    nameOf(configMap('uid-2'), notice, now),
    nameOf(configMap(), warning('InvalidSecret', 'It is gone.'), now),
    nameOf(configMap(), normal('DeployKey', notice.message), now),
  ];
  expect(new Set([name, ...others]).size).toBe(4);
});

test('a long message is cut to what Events carry', () => {
  expect(eventOf(configMap(), warning('InvalidConfiguration', 'x'.repeat(5000)), now).message).toHaveLength(1024);
});

test.each([
  ['garden-foo', 'canary', 'shoot-flux/canary/foo'],
  ['garden', 'canary', 'shoot-flux/canary/garden'],
  ['own-name', 'my landscape\n', 'shoot-flux/my-landscape/own-name'],
])('the key of %s in %j is called %s', (namespace, landscape, comment) => {
  expect(keyComment(namespace, landscape)).toBe(comment);
});
