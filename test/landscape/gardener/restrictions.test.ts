import { expect, it } from 'vitest';
import { ConformanceClient } from '../conformance/client.ts';
import { configMap } from '../conformance/context.ts';
import { startKubeApi } from '../kube-api/kube-api.ts';
import { restrictions } from './restrictions.ts';

const seedAccount = 'system:serviceaccount:seed-lab:extension-shoot-flux-x7k2p';
const shootAccount = 'system:serviceaccount:garden-foo:extension-shoot--root--shoot-flux';
const others = ['system:serviceaccount:seed-lab:shoot-flux', 'extension-mine'];
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });
const at = (namespace: string, plural: string) => `/api/v1/namespaces/${namespace}/${plural}`;

async function startGarden() {
  const users = [seedAccount, shootAccount, ...others];
  const tokens = Object.fromEntries(users.map((name) => [name, { name }]));
  const api = await startKubeApi({ webhooks: restrictions, tokens });
  for (const namespace of ['garden', 'garden-foo', 'seed-lab', 'gardens']) api.objects.ensureNamespace(namespace);
  const client = new ConformanceClient(api);
  const stop = async () => {
    client.close();
    await api.stop();
  };
  return { api, client, [Symbol.asyncDispose]: stop };
}

it.each([
  [seedAccount, 'seed', 'seed "lab"'],
  [shootAccount, 'shoot', 'shoot garden-foo/root'],
])('%s creates no Secret and no ConfigMap of a project', async (token, of, whose) => {
  await using garden = await startGarden();
  const { api, client } = garden;
  const message = `admission webhook "${of}-restriction.gardener.cloud" denied the request: object does not belong to ${whose}`;
  const refused = { code: 403, body: { kind: 'Status', status: 'Failure', message, code: 403 } };
  for (const namespace of ['garden', 'garden-foo']) {
    const answer = await client.post(at(namespace, 'secrets'), secret('flux-source'), { token });
    expect(answer).toMatchObject(refused);
    expect(answer.body).not.toHaveProperty('reason');
    const configMaps = at(namespace, 'configmaps');
    expect(await client.post(configMaps, configMap('a'), { token })).toMatchObject(refused);
    expect(await client.apply(`${configMaps}/a`, 'a', configMap('a'), { token })).toMatchObject(refused);
  }
  api.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'garden-foo', name: 'made' } });
  const made = `${at('garden-foo', 'configmaps')}/made`;
  expect(await client.mergePatch(made, { data: { a: 'b' } }, { token })).toMatchObject({ code: 200 });
  expect(await client.apply(made, 'a', configMap('made'), { token })).toMatchObject({ code: 200 });
  const involvedObject = { namespace: 'garden-foo' };
  const event = { apiVersion: 'v1', kind: 'Event', metadata: { generateName: 'a' }, involvedObject };
  expect(await client.post(at('garden-foo', 'events'), event, { token })).toMatchObject({ code: 201 });
});

it('other accounts and namespaces are not restricted', async () => {
  await using garden = await startGarden();
  const create = async (token: string, namespace: string, name: string) =>
    (await garden.client.post(at(namespace, 'secrets'), secret(name), { token })).code;
  for (const user of others) expect(await create(user, 'garden-foo', user.replaceAll(':', '-'))).toBe(201);
  for (const namespace of ['seed-lab', 'gardens']) expect(await create(seedAccount, namespace, 'a')).toBe(201);
});
