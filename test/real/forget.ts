import type { Etcd } from './cluster/etcd.ts';

/** More is refused: the default of etcd's `--max-txn-ops`. */
const OPERATIONS = 128;

/** What API servers write about themselves. */
const own = /^\/[^/]+\/(apiregistration\.k8s\.io|leases|masterleases|peerserverleases)\//;

/**
 * Remembers what an etcd holds now. The function that it returns forgets whatever has been created since, in all API
 * servers that share it: at once, without finalizers and without a controller that empties namespaces. Much quicker
 * than starting API servers anew for each test; what was there before and has been changed stays changed.
 */
export async function rememberEtcd(etcd: Etcd): Promise<() => Promise<void>> {
  const everything = { key: base64('\0'), range_end: base64('\0'), keys_only: true };
  const { header } = await call(etcd, 'range', { ...everything, limit: 1 });
  const min_create_revision = String(BigInt(header.revision) + 1n);
  return async () => {
    const { kvs = [] } = await call(etcd, 'range', { ...everything, min_create_revision });
    const keys = kvs.map(({ key }) => Buffer.from(key, 'base64').toString()).filter((key) => !own.test(key));
    // The API server reads custom resources only as long as their CRD is there, and tells their watchers that they are gone.
    const isCrd = (key: string) => key.includes('/customresourcedefinitions/');
    const ordered = [...keys.filter((key) => !isCrd(key)), ...keys.filter(isCrd)];
    for (let start = 0; start < ordered.length; start += OPERATIONS) {
      const success = ordered
        .slice(start, start + OPERATIONS)
        .map((key) => ({ request_delete_range: { key: base64(key) } }));
      await call(etcd, 'txn', { success });
    }
  };
}

interface Answer {
  header: { revision: string };
  kvs?: { key: string }[];
}

/** One call of etcd's JSON gateway. */
async function call(etcd: Etcd, method: 'range' | 'txn', body: object): Promise<Answer> {
  const response = await fetch(`${etcd.url}/v3/kv/${method}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd ${method}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
