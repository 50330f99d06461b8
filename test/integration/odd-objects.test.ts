import fc from 'fast-check';
import { expect, it } from 'vitest';
import { definition as managedResources } from '../../functions/managed-resources/function.ts';
import { definition as projectStatus } from '../../functions/project-status/function.ts';
import { definition as readiness } from '../../functions/readiness/function.ts';
import { definition as syncMode } from '../../functions/sync-mode/function.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { foreignObject } from '../../shared/shapes.ts';

it('subscriptions never throw in the watcher, whatever an object of a seed holds', () => {
  const spec = fc.oneof(
    fc.anything(),
    fc.record({ shoot: fc.anything() }),
    fc.record({ type: fc.constant('shoot-flux') }),
  );
  fc.assert(
    fc.property(spec, fc.anything(), (value, status) => {
      const metadata = { namespace: 'shoot--foo--bar', name: 'shoot-flux' };
      for (const { subscriptions } of [managedResources, projectStatus, readiness, syncMode]) {
        for (const { resource, matches, isNews, wakes, isAwaited, keys } of subscriptions) {
          const object = foreignObject(resource, { metadata, spec: value, status }) as KubeObject;
          for (const read of [matches, isNews, wakes, isAwaited]) read?.(object);
          expect(keys(object, 'seed')[0]?.name).toBe('shoot-flux');
        }
      }
    }),
    { seed: 9, numRuns: 300 },
  );
});
