import { expect, test } from 'vitest';
import { CREATION_REFUSED } from '../../shared/gardener/creation-refused.ts';
import { eventName, normal, warning } from '../../shared/gardener/event.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { eventOf } from './project-objects.ts';

const configMap = (uid = 'uid-1'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'garden-foo', name: 'flux-config', uid },
});
const now = new Date('2026-01-02T03:04:05.678Z');
const notice = warning('InvalidSecret', 'It is damaged.');
const nameOf = (...args: Parameters<typeof eventOf>) => eventOf(...args).metadata.name;

test('names the ConfigMap and the time', () => {
  expect(eventOf(configMap(), notice, now)).toMatchObject({
    metadata: { namespace: 'garden-foo', name: expect.stringMatching(/^flux-config\.[0-9a-f]{16}$/) },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config', uid: 'uid-1' },
    type: 'Warning',
    reason: 'InvalidSecret',
    message: 'It is damaged.',
    firstTimestamp: '2026-01-02T03:04:05Z',
  });
});

test('gives the same name to the same notice at any time, and another name to any other notice', () => {
  const name = nameOf(configMap(), notice, now);
  expect(nameOf(configMap(), notice, new Date(0))).toBe(name);
  const others = [
    nameOf(configMap('uid-2'), notice, now),
    nameOf(configMap(), warning('InvalidSecret', 'It is gone.'), now),
    nameOf(configMap(), normal('DeployKey', notice.message), now),
  ];
  expect(new Set([name, ...others]).size).toBe(4);
});

test('gives the Events about a refused creation one name, also where another webhook refuses it', () => {
  const refused = (message: string) => nameOf(configMap(), warning('CreationRefused', message), now);
  expect(refused('A webhook denies it.')).toBe(refused('A policy denies it.'));
  expect(refused('A webhook denies it.')).toBe(eventName({ name: 'flux-config', uid: 'uid-1' }, [CREATION_REFUSED]));
});

test('cuts a long message to the limit of Events', () => {
  expect(eventOf(configMap(), warning('InvalidConfiguration', 'x'.repeat(5000)), now).message).toHaveLength(1024);
});
