import { describe, expect, it } from 'vitest';
import { DELAY, typeOf } from '../../events/cloudevents/event.ts';
import { findDefinitions } from '../functions.ts';
import { services, triggers } from './manifests.ts';

const definitions = await findDefinitions();

describe('the manifests for Knative', () => {
  it('have a Trigger for every function, whose filter is the type of its events', () => {
    const filters = triggers(definitions).map(({ spec }) => (spec as { filter: object }).filter);
    expect(filters.map((filter) => JSON.stringify(filter)).toSorted()).toEqual(
      [...definitions.map(({ name }) => name), DELAY]
        .map((name) => JSON.stringify({ attributes: { type: typeOf(name) } }))
        .toSorted(),
    );
  });

  it('have a Service that scales to zero for every function', () => {
    const made = services(definitions).map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component']);
    expect(made).toEqual(definitions.map(({ name }) => name));
    for (const { spec } of services(definitions)) {
      const { template } = spec as { template: { metadata: { annotations: Record<string, string> } } };
      expect(template.metadata.annotations['autoscaling.knative.dev/min-scale']).toBe('0');
    }
  });
});
