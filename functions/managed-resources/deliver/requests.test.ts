import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { planRequest, reconcileAtOf } from './requests.ts';

const secret = (value: string, labels?: Record<string, string>): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', data: { key: value } },
  metadata: { namespace: 'flux-system', name: 'flux-source', ...(labels && { labels }) },
});
const facts = (value: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { key: value } },
  metadata: { namespace: 'flux-system', name: 'shoot-facts' },
});
const { after: recorded } = planRequest([secret('a')], undefined, undefined);
const previous = (parts: object = recorded) => appliedFactory(parts);

describe('a request to Flux in the shoot', () => {
  it('is not due for new objects', () => {
    expect(planRequest([secret('a')], 'now', undefined)).toMatchObject({
      isDue: false,
      before: { reconcileAt: 'now' },
    });
  });

  it('is due for a Secret with another content, and recorded only afterwards', () => {
    const plan = planRequest([secret('b')], undefined, previous());
    expect(plan).toMatchObject({ isDue: true, before: recorded });
    expect(plan.after.copiesHash).not.toBe(recorded.copiesHash);
    expect(planRequest([secret('b')], undefined, previous(plan.after)).isDue).toBe(false);
  });

  it('is not due for other labels, nor for ConfigMaps', () => {
    expect(planRequest([secret('a', { a: 'b' }), facts('c')], undefined, previous()).isDue).toBe(false);
  });

  it('is due once for each new value of the annotation', () => {
    const first = planRequest([secret('a')], 'first', previous());
    expect(first).toMatchObject({ isDue: true, after: { reconcileAt: 'first' } });
    const then = previous(first.after);
    expect(planRequest([secret('a')], 'first', then).isDue).toBe(false);
    expect(planRequest([secret('a')], 'second', then).isDue).toBe(true);
    const withdrawn = planRequest([secret('a')], undefined, then);
    expect(withdrawn).toMatchObject({ isDue: false, before: { reconcileAt: 'first' } });
  });
});

it('the identity of the annotations follows each of both, and has a fixed length', () => {
  expect(reconcileAtOf([undefined, undefined])).toBeUndefined();
  const identities = [
    ['a', undefined],
    [undefined, 'a'],
    ['a', 'a'],
    ['x'.repeat(9999), 'a'],
  ].map(reconcileAtOf);
  expect(new Set(identities).size).toBe(4);
  expect(identities.every((identity) => identity?.length === 16)).toBe(true);
});
