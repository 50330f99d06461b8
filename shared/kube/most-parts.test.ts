import { expect, test } from 'vitest';
import { mostParts } from './answer.ts';
import { clusterLimits } from './answer-limits.ts';
import { resources } from './resource.ts';
import { createTransport } from './transport.ts';

test('objects that the watcher only compares may have fewer parts, unless their managedFields are compared', () => {
  const transport = createTransport({ server: 'https://garden.example.org' }, {});
  const request = { method: 'GET', resource: resources.configMaps, path: '/' };
  const most = (accept: string, onUnreadable?: unknown) => mostParts({ ...request, accept }, transport, onUnreadable);
  const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  expect(most('application/json', () => {})).toBe(clusterLimits.compared);
  expect(most(metadataOnly, () => {})).toBe(clusterLimits.parts);
  expect(most('application/json')).toBe(clusterLimits.parts);
});
