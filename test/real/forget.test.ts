import { expect, it } from 'vitest';
import { startEtcd } from './cluster/etcd.ts';
import { rememberEtcd } from './forget.ts';

it('forgets the objects that were created since, and none of the keys that API servers keep for themselves', async () => {
  await using etcd = await startEtcd();
  const call = async (method: string, body: object) => {
    const response = await fetch(`${etcd.url}/v3/kv/${method}`, { method: 'POST', body: JSON.stringify(body) });
    return (await response.json()) as { kvs?: { key: string }[] };
  };
  const put = (key: string) => call('put', { key: btoa(key), value: btoa('a value') });
  const older = '/garden/configmaps/default/older';
  const own = ['/garden/leases/kube-system/apiserver', 'compact_rev_key'];

  await put(older);
  const forget = await rememberEtcd(etcd);
  for (const key of ['/garden/configmaps/default/newer', '/seed/secrets/default/newer', ...own]) await put(key);
  await forget();

  const { kvs = [] } = await call('range', { key: btoa('\0'), range_end: btoa('\0'), keys_only: true });
  expect(kvs.map(({ key }) => atob(key))).toEqual([older, ...own]);
});
