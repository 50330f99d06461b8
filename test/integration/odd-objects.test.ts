import fc from 'fast-check';
import { expect, it } from 'vitest';
import { definition as managedResources } from '../../functions/managed-resources/function.ts';
import { definition as projectStatus } from '../../functions/project-status/function.ts';
import { definition as readiness } from '../../functions/readiness/function.ts';
import { definition as syncMode } from '../../functions/sync-mode/function.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

it('subscriptions never throw in the watcher, whatever an object of a seed holds', () => {
  const spec = fc.oneof(
    fc.anything(),
    fc.record({ shoot: fc.anything() }),
    fc.record({ type: fc.constant('shoot-flux') }),
  );
  const metadata = fc.dictionary(
    fc.constantFrom('labels', 'annotations', 'generation', 'deletionTimestamp'),
    fc.anything(),
  );
  fc.assert(
    fc.property(metadata, spec, fc.anything(), (meta, value, status) => {
      const name = { namespace: 'shoot--foo--bar', name: 'shoot-flux' };
      const object = { metadata: { ...meta, ...name }, spec: value, status } as unknown as KubeObject;
      for (const { subscriptions } of [managedResources, projectStatus, readiness, syncMode]) {
        for (const { matches, isNews, wakes, isAwaited, keys } of subscriptions) {
          for (const read of [matches, isNews, wakes, isAwaited]) read?.(object);
          expect(keys(object, 'seed')[0]?.name).toBe('shoot-flux');
        }
      }
    }),
    { seed: 9, numRuns: 300 },
  );
});
