import { expect, it, test } from 'vitest';
import { gitRepository, kustomization, ociRepository, problems, withTemplates } from './config.fixtures.ts';

const reserved = [
  'resources.gardener.cloud/ignore',
  'resources.gardener.cloud/mode',
  'resources.gardener.cloud/keep-object',
  'resources.gardener.cloud/delete-on-invalid-update',
  'resources.gardener.cloud/skip-health-check',
  'resources.gardener.cloud/finalize-deletion-after',
  'resources.gardener.cloud/preserve-replicas',
  'Resources.Gardener.Cloud/ignore',
  'reference.resources.gardener.cloud/secret-12345678',
  'gardener.cloud/operation',
  'shoot.gardener.cloud/no-cleanup',
  'extensions.gardener.cloud/anything',
];

it.each(reserved)('refuses the annotation %s in both templates', (key) => {
  const fields = { metadata: { annotations: { [key]: 'true' } } };
  const sentence = (part: string) =>
    `providerConfig: ${part}.template.metadata.annotations has the key "${key}", which is reserved for Gardener; remove it`;
  expect(problems(withTemplates(gitRepository({}, fields), kustomization({}, fields)))).toEqual([
    sentence('source'),
    sentence('kustomization'),
  ]);
});

it('refuses such labels', () => {
  const fields = { metadata: { labels: { 'shoot.gardener.cloud/no-cleanup': 'true', team: 'a' } } };
  expect(problems(withTemplates(ociRepository({}, fields)))).toEqual([
    'providerConfig: source.template.metadata.labels has the key "shoot.gardener.cloud/no-cleanup", which is reserved for Gardener; remove it',
  ]);
});

it.each([
  'example.com/team',
  'my-gardener.cloud/team',
  'gardener.cloud.example.com/team',
  'gardener.cloud',
  'kustomize.toolkit.fluxcd.io/prune',
  'kustomize.toolkit.fluxcd.io/reconcile',
  'reconcile.fluxcd.io/requestedAt',
])('accepts the key %s', (key) => {
  const fields = { metadata: { annotations: { [key]: 'disabled' }, labels: { [key]: 'disabled' } } };
  expect(problems(withTemplates(gitRepository({}, fields), kustomization({}, fields)))).toEqual([]);
});

test('checks keys that every object of JavaScript inherits', () => {
  const labels: unknown = JSON.parse('{"constructor": "b", "toString": 1}');
  expect(problems(withTemplates(gitRepository({}, { metadata: { labels } })))).toEqual([
    'providerConfig: source.template.metadata.labels.toString must be a string, not a number; put it in quotes',
  ]);
});
