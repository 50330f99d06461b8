import type { Etcd } from '../cluster/etcd.ts';

/** Reads in which version each custom resource of Flux is stored, by its key, below the prefix of an API server. */
export async function storedInEtcd(etcd: Etcd, prefix: string): Promise<Record<string, string>> {
  const [key, range_end] = [`/${prefix}/`, `/${prefix}0`].map((text) => Buffer.from(text).toString('base64'));
  const response = await fetch(`${etcd.url}/v3/kv/range`, { method: 'POST', body: JSON.stringify({ key, range_end }) });
  const { kvs = [] } = (await response.json()) as { kvs?: { key: string; value: string }[] };
  const found = kvs.flatMap((entry) => {
    const path = Buffer.from(entry.key, 'base64')
      .toString()
      .slice(prefix.length + 2);
    if (!/^[a-z.]+\.fluxcd\.io\//.test(path)) return [];
    const { apiVersion } = JSON.parse(Buffer.from(entry.value, 'base64').toString()) as { apiVersion: string };
    return [[path, apiVersion.split('/')[1] ?? ''] as const];
  });
  return Object.fromEntries(found);
}
