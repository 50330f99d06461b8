import { expect, test } from 'vitest';
import { statusError } from './call-errors.ts';
import { type Resource, resources } from './resource.ts';

const name = { namespace: 'garden-foo', name: 'flux-source' };
const messageOf = (message: string, code = 403, resource: Resource = resources.secrets, details?: object) =>
  statusError({ method: 'POST', resource, name }, code, { kind: 'Status', message, details }).message;
const withheld = 'the original message is withheld because it may contain Secret data';
const call = 'POST secrets garden-foo/flux-source';
const webhook = 'admission webhook "seed-restriction.gardener.cloud" denied the request';
const policy = `ValidatingAdmissionPolicy 'shoot-flux-secrets' with binding 'b' denied request`;

test.each([
  ['a webhook', `${webhook}: password is hunter2`, webhook],
  ['a webhook without explanation', `${webhook} without explanation`, webhook],
  [
    'a policy',
    `secrets "flux-source" is forbidden: ${policy}: hunter2`,
    `secrets "flux-source" is forbidden: ${policy}`,
  ],
  ['a policy for a list', `secrets is forbidden: ${policy}: hunter2`, `secrets is forbidden: ${policy}`],
])('a refused Secret says that %s refuses it, and nothing that it says itself', (_, message, shown) => {
  for (const code of [403, 422, 400, 500]) {
    expect(messageOf(message, code)).toBe(`${call}: ${code}: ${shown}; ${withheld}`);
  }
  const causes = [{ field: 'data.identity', message: 'hunter2' }];
  expect(messageOf(message, 403, resources.secrets, { causes })).toBe(`${call}: 403: ${shown}; see data.identity`);
});

test.each([
  ['in the text of a webhook', `hunter2 ${webhook}`],
  ['after the beginning of a policy', `secrets "a" is forbidden: hunter2 ${policy}: hunter2`],
  ['with a name of any characters', 'admission webhook "hunter2 is it" denied the request: hunter2'],
  ['with a name of any length', `admission webhook "${'a'.repeat(254)}" denied the request: hunter2`],
  ['of a policy about another kind', `configmaps "a" is forbidden: ${policy}: hunter2`],
])('a refusal %s is not taken for one of the API server', (_, message) => {
  expect(messageOf(message)).toBe(`${call}: 403: ${withheld}`);
});

test('what another webhook says stays behind the name of the one that refuses', () => {
  expect(messageOf(`${webhook}: admission webhook "other" denied the request`)).toBe(
    `${call}: 403: ${webhook}; ${withheld}`,
  );
});

test('objects that hold no secrets are quoted as before', () => {
  expect(messageOf(`${webhook}: why not`, 403, resources.configMaps)).toContain(`403: ${webhook}: why not`);
});
