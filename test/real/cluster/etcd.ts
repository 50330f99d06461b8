import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { answersOk, type RunningProgram, startReady } from './start.ts';

/** A running etcd; any number of API servers share one, each under its own prefix. */
export interface Etcd extends RunningProgram {
  url: string;
}

/** Starts an etcd on loopback. Its data is deleted when it stops. */
export async function startEtcd(): Promise<Etcd> {
  const { etcd } = await buildTools(['etcd']);
  const client = (ports: number[]) => `http://127.0.0.1:${ports[0]}`;
  const { program, ports } = await startReady({
    name: 'etcd',
    ports: 2,
    async prepare(folder, ports) {
      const peer = `http://127.0.0.1:${ports[1]}`;
      return {
        command: etcd,
        args: [
          `--data-dir=${join(folder, 'data')}`,
          `--listen-client-urls=${client(ports)}`,
          `--advertise-client-urls=${client(ports)}`,
          `--listen-peer-urls=${peer}`,
          `--initial-advertise-peer-urls=${peer}`,
          `--initial-cluster=default=${peer}`,
          // The data is not needed after a crash, and a small etcd spends most of its time on fsync.
          '--unsafe-no-fsync',
          // A benchmark writes more than the default of 2 GB before a compaction.
          '--quota-backend-bytes=8589934592',
          '--log-level=warn',
        ],
      };
    },
    ready: (_, ports) => answersOk(`${client(ports)}/readyz`),
  });
  return Object.assign(program, { url: client(ports) });
}

/** The default limit of etcd's `--max-txn-ops`. */
const OPERATIONS = 128;

/** Keys that API servers write about themselves; without the last, they end in a panic ten minutes after their start. */
const own = /^\/[^/]+\/(apiregistration\.k8s\.io|leases|masterleases|peerserverleases)\/|^compact_rev_key$/;

/**
 * Records the keys of an etcd. The returned function deletes all keys that were created since, in all API servers that
 * share the etcd, at once and without finalizers or a namespace controller. This is much faster than starting API
 * servers for each test. Changes to older keys are not reverted.
 */
export async function rememberEtcd(etcd: Etcd): Promise<() => Promise<void>> {
  const everything = { key: base64('\0'), range_end: base64('\0'), keys_only: true };
  const { header } = await call(etcd, 'range', { ...everything, limit: 1 });
  const min_create_revision = String(BigInt(header.revision) + 1n);
  return async () => {
    const { kvs = [] } = await call(etcd, 'range', { ...everything, min_create_revision });
    const keys = kvs.map(({ key }) => Buffer.from(key, 'base64').toString()).filter((key) => !own.test(key));
    // The API server reads custom resources, and reports their deletion to watchers, only while their CRD exists.
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

/** Calls etcd's JSON gateway. */
async function call(etcd: Etcd, method: 'range' | 'txn', body: object): Promise<Answer> {
  const response = await fetch(`${etcd.url}/v3/kv/${method}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd ${method}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
