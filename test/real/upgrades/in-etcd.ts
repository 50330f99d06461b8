import type { Etcd } from '../cluster/etcd.ts';

/** Reads in which version each custom resource of Flux is stored, by its key, below the prefix of an API server. */
export async function storedInEtcd(etcd: Etcd, prefix: string): Promise<Record<string, string>> {
  const found = (await read(etcd, `/${prefix}/`, `/${prefix}0`)).flatMap(({ key, apiVersion }) => {
    const path = key.slice(prefix.length + 2);
    return /^[a-z.]+\.fluxcd\.io\//.test(path) ? [[path, versionIn(apiVersion())] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Reads in which version one custom resource is stored: all of them together are many megabytes, with the CRDs. */
export async function storedVersion(etcd: Etcd, prefix: string, path: string): Promise<string | undefined> {
  const [found] = await read(etcd, `/${prefix}/${path}`);
  return found && versionIn(found.apiVersion());
}

/** Reads a key of etcd, or the keys up to another one. A value is decoded when it is asked for. */
async function read(etcd: Etcd, from: string, to?: string): Promise<{ key: string; apiVersion: () => string }[]> {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const range = { key: encoded(from), ...(to !== undefined && { range_end: encoded(to) }) };
  const response = await fetch(`${etcd.url}/v3/kv/range`, { method: 'POST', body: JSON.stringify(range) });
  const { kvs = [] } = (await response.json()) as { kvs?: { key: string; value: string }[] };
  const decoded = (text: string) => Buffer.from(text, 'base64').toString();
  return kvs.map(({ key, value }) => ({
    key: decoded(key),
    apiVersion: () => (JSON.parse(decoded(value)) as { apiVersion: string }).apiVersion,
  }));
}

function versionIn(apiVersion: string): string {
  return apiVersion.split('/')[1] ?? '';
}
