import { expect, test } from 'vitest';
import { gitRepository, kustomization, problems } from '../config.fixtures.ts';
import { git, helmRelease, helmRepository, withLists } from '../listed/testing.ts';
import type { Policy } from './policy.ts';

const urls: Policy = { allowedRepositoryUrls: ['https://git.example.com/**', 'oci://registry.example.com/team/**'] };
const encrypted: Policy = { allowInsecureUrls: false };
const ours = git('ours', { url: 'https://git.example.com/a' });
const registry = (url: string) => helmRepository('charts', { type: 'oci', url });
const inRegistry = (chart: string) => [
  registry('oci://registry.example.com/team'),
  helmRelease('app', 'charts', { chart: { spec: { chart, sourceRef: { kind: 'HelmRepository', name: 'charts' } } } }),
];

test.each(
  Object.entries<[Policy, object[]]>({
    'objects[0].spec.url "https://github.com/org/a" is not allowed by allowedRepositoryUrls': [urls, [git('a')]],
    'objects[1].spec.url "https://github.com/org/b" is not allowed by': [urls, [ours, git('b')]],
    'objects[0].spec.url "https://charts.example.com" is not allowed by': [urls, [helmRepository('a')]],
    'objects[0].spec.url "oci://registry.example.com/other" is not': [
      urls,
      [registry('oci://registry.example.com/other')],
    ],
    'objects[1].spec.chart.spec.chart "oci://registry.example.com/team/../other/app" has a form that cannot be compared with':
      [urls, inRegistry('../other/app')],
    'objects[0].spec.proxySecretRef is not allowed by': [
      urls,
      [git('a', { url: 'https://git.example.com/a', proxySecretRef: { name: 'proxy' } })],
    ],
    'objects[0].spec.url "http://charts.example.com" is not allowed by allowInsecureUrls': [
      encrypted,
      [helmRepository('a', { url: 'http://charts.example.com' })],
    ],
    'objects[0].spec.address "http://a.example" is not allowed by': [
      encrypted,
      [{ kind: 'Provider', metadata: { name: 'a' }, spec: { type: 'generic', address: 'http://a.example' } }],
    ],
    'objects[0].spec.insecure true is not allowed by': [
      encrypted,
      [{ kind: 'ImageRepository', metadata: { name: 'a' }, spec: { image: 'a.example/b', insecure: true } }],
    ],
  }),
)('%s', (sentence, [policy, objects]) => {
  const found = problems(withLists({ objects, existingSecrets: ['proxy'] }, { landscape: { policy } }));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`providerConfig: ${sentence}`);
  expect(found[0]).toContain('in the policy of this landscape');
});

test('the sources of lists are judged like a single one', () => {
  const second = { template: gitRepository({}, { metadata: { name: 'b' } }) };
  const sources = [{ template: gitRepository({ url: 'https://git.example.com/a' }) }, second];
  const lists = { sources, kustomizations: [{ template: kustomization() }] };
  expect(problems(withLists(lists, { landscape: { policy: urls } }))).toEqual([
    expect.stringContaining(
      'providerConfig: sources[1].template.spec.url "https://github.com/org/fleet" is not allowed by',
    ),
  ]);
});

test.each<[string, object[]]>([
  ['a repository that is allowed', [ours]],
  ['a chart in an allowed registry', inRegistry('app')],
])('%s is accepted', (_, objects) => {
  expect(problems(withLists({ objects }, { landscape: { policy: { ...urls, ...encrypted } } }))).toEqual([]);
});
