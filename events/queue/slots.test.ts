import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSlots, type Slots, type Tenant, tenantOf } from './slots.ts';

const tenant = (cluster: string, project = 'p'): Tenant => ({ cluster, project });

/** Starts as many runs for a tenant as it may; each that hangs gives its slot back. */
function fill(slots: Slots, holder: Tenant, hanging = false): number {
  let held = 0;
  while (slots.has(holder)) {
    slots.start(holder);
    if (hanging) slots.release(holder);
    held++;
  }
  return held;
}

describe('slots', () => {
  it('leave room for others whatever one project, or one cluster, takes', () => {
    const slots = createSlots(20);
    expect(fill(slots, tenant('a'))).toBe(7);
    expect(fill(slots, tenant('a', 'q'))).toBe(2);
    expect(slots.has(tenant('b'))).toBe(true);
  });

  it('give a cluster half of them when its projects share them', () => {
    const slots = createSlots(20);
    const projects = Array.from({ length: 20 }, (_, n) => fill(slots, tenant('a', `p${n}`)));
    expect(projects.reduce((sum, held) => sum + held)).toBe(10);
  });

  it.each([1, 2, 3, 10, 20])('start at least one run with %i of them', (concurrency) => {
    expect(fill(createSlots(concurrency), tenant('a'))).toBeGreaterThan(0);
  });

  it.each([1, 2, 5, 10])('leave every slot free beside %i clusters whose runs all hang', (clusters) => {
    const slots = createSlots(20);
    for (let n = 0; n < clusters; n++) expect(fill(slots, tenant(`dead${n}`), true)).toBeGreaterThan(0);
    expect(slots.counts().working).toBe(0);
    expect(slots.counts().runs).toBeLessThan(100);
    expect(slots.has(tenant('alive'))).toBe(true);
  });

  it.each([
    ['projects of the same cluster', (n: number) => tenant('a', `p${n}`)],
    ['clusters', (n: number) => tenant(`c${n}`)],
  ])('keep a reserve beside 500 %s whose runs are known to hang', (_, tenantOf) => {
    const slots = createSlots(20);
    const tenants = Array.from({ length: 500 }, (_, n) => tenantOf(n));
    for (const each of tenants) {
      slots.start(each);
      slots.release(each);
      slots.end(each, true);
    }
    const hanging = tenants.filter((each) => {
      if (!slots.has(each)) return false;
      slots.start(each);
      slots.release(each);
      return true;
    });
    expect(hanging.length).toBeGreaterThanOrEqual(40);
    expect(fill(slots, tenant('a', 'healthy'))).toBeGreaterThan(3);
  });

  it('give the reserve to a tenant again whose last run was short', () => {
    const slots = createSlots(20);
    slots.start(tenant('a'));
    slots.release(tenant('a'));
    slots.end(tenant('a'), true);
    for (let n = 0; n < 85; n++) {
      slots.start(tenant(`other${n}`));
      slots.release(tenant(`other${n}`));
    }
    expect([slots.has(tenant('a')), slots.has(tenant('b'))]).toEqual([false, true]);
    slots.start(tenant('a'));
    slots.end(tenant('a'), false);
    expect(slots.has(tenant('a'))).toBe(true);
  });

  it('are counted for slow tenants as for all: nothing is left when all runs have ended', () => {
    const last = tenant('last');
    const become = (slots: Slots) => {
      slots.start(last);
      slots.release(last);
      slots.end(last, true);
      return fill(slots, last, true);
    };
    const expected = become(createSlots(20));
    const step = fc.record({ cluster: fc.nat(3), kind: fc.nat(2), which: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const slots = createSlots(20);
        const running: { holder: Tenant; released: boolean }[] = [];
        for (const { cluster, kind, which } of steps) {
          const holder = tenant(`c${cluster}`);
          const one = running[which];
          if (kind === 0 && slots.has(holder)) {
            slots.start(holder);
            running.push({ holder, released: false });
          } else if (kind === 1 && one?.released === false) {
            slots.release(one.holder);
            one.released = true;
          } else if (kind === 2 && one !== undefined) {
            slots.end(one.holder, one.released);
            running.splice(which, 1);
          }
        }
        for (const { holder, released } of running) slots.end(holder, released);
        expect(slots.counts()).toEqual({ working: 0, runs: 0 });
        expect(become(slots)).toBe(expected);
      }),
      { seed: 9 },
    );
  });

  it('always have one left for a tenant that holds none, while fewer tenants than slots are at work', () => {
    const steps = fc.array(fc.record({ cluster: fc.nat(3), project: fc.nat(2), kind: fc.nat(2) }), { maxLength: 300 });
    fc.assert(
      fc.property(steps, (all) => {
        const slots = createSlots(20);
        const running: [Tenant, boolean][] = [];
        for (const { cluster, project, kind } of all) {
          const holder = tenant(`c${cluster}`, `p${project}`);
          const last = kind === 0 ? running.pop() : undefined;
          if (last !== undefined) slots.end(...last);
          else if (slots.has(holder)) {
            slots.start(holder);
            if (kind === 2) slots.release(holder);
            running.push([holder, kind === 2]);
          }
        }
        expect(slots.has(tenant('healthy'))).toBe(true);
        for (const last of running) slots.end(...last);
        expect(slots.counts()).toEqual({ working: 0, runs: 0 });
      }),
      { seed: 9 },
    );
  });
});

it.each([
  ['a control plane', 'shoot--foo--bar', 'foo'],
  ['a Shoot whose name has two hyphens', 'shoot--foo--bar--baz', 'foo'],
  ["a project's namespace", 'garden-foo', 'foo'],
  ['a namespace that the project chose', 'my-team', 'my-team'],
  ['the namespace of the garden itself', 'garden', 'garden'],
  ['a name that is cut short', 'shoot--foo', 'shoot--foo'],
])('the project of %s', (_, namespace, project) => {
  expect(tenantOf({ cluster: 'seed', namespace, name: 'x' })).toEqual({ cluster: 'seed', project });
});
