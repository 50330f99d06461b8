import { describe, expect, it } from 'vitest';
import { appliedFactory, conditionFactory, managedResourceFactory } from '../../../shared/gardener/testing.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import { mayDropVersions } from './dropped-versions.ts';

describe('mayDropVersions', () => {
  const crds = 'shoot-flux-crds';
  const record = appliedFactory({ managedResources: { [crds]: 'new' }, fluxVersion: 'v2.9.4' });
  const plan = { record, contents: new Map([[crds, []]]) };
  const former = (parts: Partial<Applied>) => appliedFactory({ managedResources: { [crds]: 'old' }, ...parts });
  const live = (...list: ManagedResource[]) => new Map(list.map((resource) => [resource.metadata.name, resource]));
  const installed = { fluxVersion: 'v2.8.8', installed: 'v2.8.8' };
  const asks = (previous: Applied | undefined, there = live(), liveVersion?: string) =>
    mayDropVersions({ plan, previous, live: there, liveVersion });

  it('asks the shoot before another release is delivered', () => {
    expect(asks(former(installed), live(managedResourceFactory(crds, 'old')))).toBe(true);
  });

  it('asks again until the CRDs are written, also when the release is on record already', () => {
    expect(
      asks(former({ fluxVersion: 'v2.9.4', installed: 'v2.8.8' }), live(managedResourceFactory(crds, 'old'))),
    ).toBe(true);
  });

  it('asks nothing in a Shoot that has no Flux, or whose CRDs are written', () => {
    expect(asks(undefined)).toBe(false);
    expect(asks(former(installed), live(managedResourceFactory(crds, 'new')))).toBe(false);
  });

  it('asks nothing for other content of the same release, unless a component is added', () => {
    const same = { fluxVersion: 'v2.9.4', installed: 'v2.9.4' };
    expect(asks(former(same), live(managedResourceFactory(crds, 'old')))).toBe(false);
    expect(asks(former({ ...same, components: [] }), live(managedResourceFactory(crds, 'old')))).toBe(true);
  });

  it('asks where Flux is adopted', () => {
    expect(asks(undefined, live(), 'v2.6.4')).toBe(true);
    expect(asks(former(installed), live(), 'v2.9.4')).toBe(true);
  });

  it('asks where the shoot has rejected the CRDs for what it stores', () => {
    const message = 'status.storedVersions[0]: Invalid value: "v1beta2": missing from spec.versions';
    const status = { observedGeneration: 2, conditions: [conditionFactory({ status: 'False', message })] };
    expect(asks(former(installed), live(managedResourceFactory(crds, 'new', { status })))).toBe(true);
  });

  it('asks where an upgrade has begun, also when it is taken back', () => {
    const same = former({ ...installed, fluxVersion: 'v2.9.4', installed: 'v2.9.4' });
    const there = live(managedResourceFactory(crds, 'new'));
    const inputs = { plan, previous: same, live: there, liveVersion: undefined };
    expect(mayDropVersions(inputs)).toBe(false);
    expect(mayDropVersions({ ...inputs, upgradingTo: 'v2.9.5' })).toBe(true);
    expect(mayDropVersions({ ...inputs, previous: { ...same, fluxVersion: 'v2.9.5' } })).toBe(true);
  });

  it('asks nothing where CRDs do not follow the configuration', () => {
    expect(
      mayDropVersions({
        plan: { record: appliedFactory(), contents: new Map() },
        previous: former(installed),
        live: live(),
        liveVersion: 'v2.6.4',
      }),
    ).toBe(false);
  });
});
