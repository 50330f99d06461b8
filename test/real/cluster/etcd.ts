import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import type { RunningProgram } from './process.ts';
import { answersOk, startReady } from './start.ts';

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
