// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { expect, test } from 'vitest';
import type { Policy } from '../../shared/config/policy/policy.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { eventsOf, expectRest, gardenWith, github, reasonsOf, secretOf } from './keys-garden.ts';

const refusedUrl = (url: string) =>
  `ConfigMap garden-foo/flux-config: repositoryUrl "${url}" is not allowed by allowedRepositoryUrls in the policy of this landscape; use https://git.example.com/**.`;
const gardenIn = async (policy: Policy, data: Record<string, string>) => {
  const garden = await gardenWith(data);
  garden.settings.policy = policy;
  return garden;
};
const onlyOurs: Policy = { allowedRepositoryUrls: ['https://git.example.com/**'] };

test.each<[string, Record<string, string>, Record<string, string>?]>([
  ['as it is', {}],
  ['beside a typo that managed-resources rejects', { registri: 'x' }],
  ['in upper case', { repositoryUrl: 'ssh://git@GITHUB.com/org/fleet' }],
  ['as git@host:path', { repositoryUrl: 'git@github.com:org/fleet' }],
  ['with an annotation that asks for a rotation', {}, { 'gardener.cloud/operation': 'rotate-key-start' }],
])('a repository that the policy refuses gets no key pair: %s', async (_what, data, annotations = {}) => {
  await using garden = await gardenIn(onlyOurs, { ...github, ...data });
  garden.api.objects.patch(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'garden-foo', name: 'flux-config' } },
    { metadata: { annotations } },
  );
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)).toBeUndefined();
  expect(reasonsOf(garden)).toContain('NotAllowed');
  const { message } = eventsOf(garden).find(({ reason }) => reason === 'NotAllowed') ?? {};
  const url =
    data.repositoryUrl !== undefined
      ? data.repositoryUrl.replace('git@github.com:', 'ssh://git@github.com/')
      : github.repositoryUrl;
  expect(message?.replace(/\.?$/, '.')).toBe(refusedUrl(url));
  await expectRest(garden);
});

test.each([
  ['one that it allows', 'ssh://git@git.example.com/${SHOOT_LABEL_team}/fleet', true],
  ['another one', 'ssh://git@github.com/${SHOOT_LABEL_team}/fleet', false],
])('of a URL with variables, the policy judges the host: %s', async (_what, repositoryUrl, isAllowed) => {
  const policy = { allowedRepositoryUrls: ['git.example.com/green/*', 'ssh://git.example.com/blue/**'] };
  await using garden = await gardenIn(policy, { ...github, repositoryUrl });
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)?.identity !== undefined).toBe(isAllowed);
  expect(reasonsOf(garden).includes('NotAllowed')).toBe(!isAllowed);
});

test('a refused repository keeps the key pair that it has', async () => {
  await using garden = await gardenWith(github);
  await garden.run();
  const before = secretOf(garden);
  expect(before?.identity).toBeDefined();
  garden.settings.policy = onlyOurs;
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)).toEqual(before);
  expect(reasonsOf(garden)).toEqual(['DeployKey', 'NotAllowed']);
});

test('no host is scanned where the policy does not allow it', async () => {
  await using garden = await gardenIn(
    { allowHostKeyScan: false },
    { ...github, repositoryUrl: 'ssh://git@127.0.0.1:1/fleet', knownHosts: 'scan' },
  );
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)).not.toHaveProperty('known_hosts');
  expect(eventsOf(garden).find(({ reason }) => reason === 'NotAllowed')?.message).toContain(
    'knownHosts "scan" is not allowed by allowHostKeyScan in the policy of this landscape; add the lines that ssh-keyscan prints',
  );
});

test('other rules are reported beside a key pair', async () => {
  await using garden = await gardenIn({ allowedVersions: ['2.9.x'] }, { ...github, fluxVersion: 'v2.8.1' });
  expect(await garden.run()).toEqual(done);
  expect(secretOf(garden)?.identity).toBeDefined();
  expect(reasonsOf(garden)).toEqual(['DeployKey', 'NotAllowed']);
});
