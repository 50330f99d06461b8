import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { PolicyRule } from '../../shared/runtime/definition.ts';
import { dispensable, grants, type Need, rightsOf } from '../scenarios/needed-rights.ts';

const account = { kind: 'ServiceAccount', namespace: 'ours', name: 'keys' };
const user = 'system:serviceaccount:ours:keys';
const secrets = { apiGroups: [''], resources: ['secrets'] };

/** A role with its binding to our ServiceAccount. With a namespace it is a Role, otherwise a ClusterRole. */
function bound(name: string, rules: PolicyRule[], namespace?: string, subjects: object[] = [account]): KubeObject[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name, ...(namespace !== undefined && { namespace }) };
  return [
    { apiVersion, kind, metadata, rules },
    { apiVersion, kind: `${kind}Binding`, metadata, roleRef: { kind, name }, subjects },
  ];
}

const need = (verb: string, parts: Partial<Need> = {}): Need => ({
  ...{ user, verb, group: '', resource: 'secrets', namespace: 'garden-foo', name: 'flux-source' },
  ...parts,
});

describe('a right', () => {
  it('is one verb of one resource and one name', () => {
    const rule = { apiGroups: ['', 'apps'], resources: ['a', 'b'], verbs: ['get', 'list'], resourceNames: ['x', 'y'] };
    const rights = rightsOf(bound('role', [rule]));
    expect(rights).toHaveLength(16);
    expect(rights[0]).toEqual({
      ...{ role: 'role', users: [user], namespace: undefined },
      ...{ verb: 'get', group: '', resource: 'a', name: 'x' },
    });
  });

  it.each<[string, Partial<Need>, boolean]>([
    ['the same request', {}, true],
    ['another verb', { verb: 'list' }, false],
    ['another group', { group: 'apps' }, false],
    ['another resource', { resource: 'configmaps' }, false],
    ['a subresource', { resource: 'secrets/status' }, false],
    ['another name', { name: 'other' }, false],
    ['no name', { name: '' }, false],
    ['another namespace', { namespace: 'garden-bar' }, false],
    ['the whole cluster', { namespace: '' }, false],
    ['another user', { user: 'system:serviceaccount:other:keys' }, false],
  ])('of a Role is compared with %s', (_, parts, expected) => {
    const rule = { ...secrets, verbs: ['get'], resourceNames: ['flux-source'] };
    const [right] = rightsOf(bound('role', [rule], 'garden-foo'));
    expect(right !== undefined && grants(right, need('get', parts))).toBe(expected);
  });

  it('without names and namespace permits every object', () => {
    const [right] = rightsOf(bound('role', [{ ...secrets, verbs: ['get'] }]));
    expect(right !== undefined && grants(right, need('get', { namespace: 'any', name: 'any' }))).toBe(true);
  });
});

describe('a right could be removed', () => {
  it('where no request needs it', () => {
    const rights = rightsOf(bound('role', [{ ...secrets, verbs: ['get', 'list'], resourceNames: ['flux-source'] }]));
    expect(dispensable(rights, [need('get')])).toEqual([
      'role: list secrets flux-source: no request needs it; remove it',
    ]);
  });

  it('where each request that needs it has another right, too', () => {
    const named = bound('named', [{ ...secrets, verbs: ['get'], resourceNames: ['flux-source'] }]);
    const rights = rightsOf([...named, ...bound('all', [{ ...secrets, verbs: ['get'] }])]);
    expect(dispensable(rights, [need('get')])).toEqual([
      'named: get secrets flux-source: all grants the same; remove one of both',
      'all: get secrets: named grants the same; remove one of both',
    ]);
    expect(dispensable(rights, [need('get'), need('get', { name: 'other' })])).toEqual([
      'named: get secrets flux-source: all grants the same; remove one of both',
    ]);
  });

  it('where it belongs to another user, or to none', () => {
    const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }];
    const sentence = 'role: get deployments.apps: no request needs it; remove it';
    const asked = need('get', { group: 'apps', resource: 'deployments' });
    for (const subjects of [[], [{ kind: 'User', name: 'person' }]]) {
      expect(dispensable(rightsOf(bound('role', rules, undefined, subjects)), [asked])).toEqual([sentence]);
    }
    expect(dispensable(rightsOf(bound('role', rules)), [asked])).toEqual([]);
  });

  it('but not where two users need the rights of their own', () => {
    const other = { ...account, name: 'fan-out' };
    const rules = [{ ...secrets, verbs: ['get'] }];
    const rights = rightsOf([...bound('keys', rules), ...bound('fan-out', rules, undefined, [other])]);
    expect(dispensable(rights, [need('get'), need('get', { user: 'system:serviceaccount:ours:fan-out' })])).toEqual([]);
  });
});
