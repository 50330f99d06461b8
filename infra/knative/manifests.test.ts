import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DELAY, typeOf } from '../../events/cloudevents/event.ts';
import { findDefinitions } from '../functions.ts';
import { services, triggers } from './base.ts';
import { KNATIVE, knativeManifests } from './manifests.ts';

const definitions = await findDefinitions();
const manifests = Object.entries(await knativeManifests());

describe('the manifests for Knative', () => {
  it.each(manifests)('%s is up to date: npm run docs', (name, text) => {
    expect(readFileSync(new URL(name, KNATIVE), 'utf8')).toBe(text);
  });

  it('have a Trigger for every function and for what waits, whose filter is the type of its events', () => {
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
