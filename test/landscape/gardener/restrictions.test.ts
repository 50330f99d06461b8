import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConformanceClient } from '../conformance/client.ts';
import { configMap } from '../conformance/context.ts';
import { type KubeApi, startKubeApi } from '../kube-api/kube-api.ts';
import { restrictions } from './restrictions.ts';

const seedAccount = 'system:serviceaccount:seed-lab:extension-shoot-flux-x7k2p';
const shootAccount = 'system:serviceaccount:garden-foo:extension-shoot--root--shoot-flux';
const ofSeed =
  'admission webhook "seed-restriction.gardener.cloud" denied the request: object does not belong to seed "lab"';
const ofShoot =
  'admission webhook "shoot-restriction.gardener.cloud" denied the request: object does not belong to shoot garden-foo/root';

const namespaces = ['garden', 'garden-foo', 'seed-lab', 'gardens'];
const at = (namespace: string, plural: string, name = '') =>
  `/api/v1/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } });

describe('what a garden refuses extensions', () => {
  let api: KubeApi;
  let client: ConformanceClient;
  const create = (token: string, path: string, body: object) => client.post(path, body, { token });
  const apply = (token: string, path: string, body: object) => client.apply(path, 'a', body, { token });

  beforeAll(async () => {
    const users = [seedAccount, shootAccount, 'system:serviceaccount:seed-lab:shoot-flux', 'extension-mine'];
    api = await startKubeApi({
      webhooks: restrictions,
      tokens: Object.fromEntries(users.map((name) => [name, { name }])),
    });
    for (const namespace of namespaces) api.objects.ensureNamespace(namespace);
    client = new ConformanceClient(api);
  });
  afterAll(async () => {
    client.close();
    await api.stop();
  });

  it.each([
    [seedAccount, ofSeed],
    [shootAccount, ofShoot],
  ])('%s creates no Secret and no ConfigMap of a project', async (user, message) => {
    const refused = { code: 403, body: { kind: 'Status', status: 'Failure', message, code: 403 } };
    for (const namespace of ['garden', 'garden-foo']) {
      const answer = await create(user, at(namespace, 'secrets'), secret('flux-source'));
      expect(answer).toMatchObject(refused);
      expect(answer.body).not.toHaveProperty('reason');
      expect(await create(user, at(namespace, 'configmaps'), configMap('a'))).toMatchObject(refused);
      expect(await apply(user, at(namespace, 'configmaps', 'a'), configMap('a'))).toMatchObject(refused);
      expect(api.objects.list('v1', 'Secret', namespace)).toEqual([]);
    }
  });

  it('but they change what others have created, and create Events', async () => {
    api.objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'garden-foo', name: 'made' } });
    for (const user of [seedAccount, shootAccount]) {
      const path = at('garden-foo', 'configmaps', 'made');
      expect(await client.mergePatch(path, { data: { a: user } }, { token: user })).toMatchObject({ code: 200 });
      expect(await apply(user, path, configMap('made'))).toMatchObject({ code: 200 });
      const involvedObject = { namespace: 'garden-foo' };
      const event = { apiVersion: 'v1', kind: 'Event', metadata: { generateName: 'a' }, involvedObject };
      expect(await create(user, at('garden-foo', 'events'), event)).toMatchObject({ code: 201 });
    }
  });

  it('and other accounts and namespaces are not restricted', async () => {
    for (const user of ['system:serviceaccount:seed-lab:shoot-flux', 'extension-mine']) {
      const name = user.replaceAll(':', '-');
      expect(await create(user, at('garden-foo', 'secrets'), secret(name))).toMatchObject({ code: 201 });
    }
    for (const namespace of ['seed-lab', 'gardens']) {
      expect(await create(seedAccount, at(namespace, 'secrets'), secret('a'))).toMatchObject({ code: 201 });
    }
  });
});
