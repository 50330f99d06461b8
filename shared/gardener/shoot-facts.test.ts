import { expect, test } from 'vitest';
import { SHOOT_FACTS, substitute } from '../config/variables.ts';
import { shootFacts } from './shoot-facts.ts';
import type { Cluster, Shoot } from './types.ts';

function clusterOf(shoot: Shoot, name = 'shoot--foo--bar'): Cluster {
  return { apiVersion: '', kind: 'Cluster', metadata: { name }, spec: { shoot } };
}

const shoot: Shoot = {
  metadata: { name: 'bar', namespace: 'garden-foo' },
  spec: {
    region: 'eu-1',
    purpose: 'production',
    cloudProfile: { name: 'profile' },
    dns: { domain: 'bar.foo.example' },
    kubernetes: { version: '1.34.1' },
    provider: { type: 'local' },
    networking: { pods: '10.1.0.0/16', services: 'fd00:10::/108', nodes: '10.3.0.0/16' },
    maintenance: { timeWindow: { begin: '220000+0100', end: '230000-0100' } },
  },
  status: { technicalID: 'shoot--foo--bar', uid: 'f00-ba5', clusterIdentity: 'shoot--foo--bar-f00-ba5-garden-dev' },
};

test('returns all facts of a Shoot', () => {
  expect(shootFacts(clusterOf(shoot), {})).toEqual({
    info: {
      SHOOT_INFO_NAME: 'bar',
      SHOOT_INFO_TECHNICAL_ID: 'shoot--foo--bar',
      SHOOT_INFO_CLUSTER_IDENTITY: 'shoot--foo--bar-f00-ba5-garden-dev',
      SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: 'garden-dev',
    },
    facts: {
      SHOOT_NAME: 'bar',
      SHOOT_NAMESPACE: 'garden-foo',
      SHOOT_PROJECT: 'foo',
      SHOOT_UID: 'f00-ba5',
      SHOOT_PROVIDER: 'local',
      SHOOT_REGION: 'eu-1',
      SHOOT_CLOUD_PROFILE: 'profile',
      SHOOT_PURPOSE: 'production',
      SHOOT_KUBERNETES_VERSION: '1.34.1',
      SHOOT_DOMAIN: 'bar.foo.example',
      SHOOT_POD_NETWORK: '10.1.0.0/16',
      SHOOT_SERVICE_NETWORK: 'fd00:10::/108',
      SHOOT_NODE_NETWORK: '10.3.0.0/16',
      SHOOT_MAINTENANCE_BEGIN: '220000+0100',
      SHOOT_MAINTENANCE_END: '230000-0100',
    },
  });
});

test('each fact is a variable of the configuration, and may be a part of a path', () => {
  const { facts } = shootFacts(clusterOf(shoot), {});
  expect(Object.keys(facts)).toEqual([...SHOOT_FACTS]);
  for (const [name, value] of Object.entries(facts))
    expect(substitute(`./a/\${${name}}/b`, { labels: {}, facts })).toEqual({ text: `./a/${value}/b` });
});

test('names the control plane when the technical ID is still empty', () => {
  const { info, facts } = shootFacts(clusterOf({ ...shoot, status: { technicalID: '' } }), {});
  expect(info.SHOOT_INFO_TECHNICAL_ID).toBe('shoot--foo--bar');
  expect(facts.SHOOT_PROJECT).toBe('foo');
});

test('trap 33: omits absent facts, and keeps all keys of shoot-info', () => {
  const { info, facts } = shootFacts(clusterOf({ metadata: { name: 'bar' } }), {});
  expect(info).toEqual({
    SHOOT_INFO_NAME: 'bar',
    SHOOT_INFO_TECHNICAL_ID: 'shoot--foo--bar',
    SHOOT_INFO_CLUSTER_IDENTITY: '',
    SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: '',
  });
  expect(facts).toEqual({ SHOOT_NAME: 'bar', SHOOT_PROJECT: 'foo' });
});

test("prefers the operator's garden identity, and derives none from an identity of another form", () => {
  const identity = (status: Shoot['status'], settings = {}) =>
    shootFacts(clusterOf({ ...shoot, ...(status && { status }) }), settings).info.SHOOT_INFO_GARDEN_CLUSTER_IDENTITY;
  expect(identity(shoot.status, { gardenIdentity: 'mine' })).toBe('mine');
  expect(identity({ ...shoot.status, clusterIdentity: 'something-else' })).toBe('');
});

test.each([
  ['shoot--a-b--bar', 'garden-other', 'a-b'],
  ['shoot--a--b--bar', 'garden-other', 'a--b'],
  ['kube-system', 'garden-foo', 'foo'],
  ['kube-system', 'elsewhere', undefined],
])('technical ID %s in %s is of project %s', (technicalID, namespace, project) => {
  const cluster = clusterOf({ metadata: { name: 'bar', namespace }, status: { technicalID } });
  expect(shootFacts(cluster, {}).facts.SHOOT_PROJECT).toBe(project);
});
