import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { HttpKubeClient } from '../../shared/kube/http-client.ts';
import { testDistribution } from '../made-distribution.ts';
import { patientClient } from '../patient-client.ts';
import { type Apis, type Stage, startStage } from '../scenarios/stage.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './cluster/api-server.ts';
import { installCrds, seedCrds } from './cluster/crds.ts';
import { type Etcd, rememberEtcd, startEtcd } from './cluster/etcd.ts';
import { refused } from './rights.ts';

const fluxDistribution = await testDistribution();

/** Suites with real Flux releases and Gardener's CRDs; skipped politely where the shared data is missing. */
export function withTestData(name: string, suites: (fluxDistribution: string) => void | Promise<void>): void {
  if (fluxDistribution === undefined || seedCrds() === undefined) test.skip(testDataMissing);
  else describe(name, () => suites(fluxDistribution));
}

/** The API servers of one test file, emptied after each test. */
export interface Ground {
  startApis: () => Promise<Apis>;
  fluxDistribution: string;
  /** The servers; available from the first test on. */
  apis: () => RealApis;
  /** @param distribution of the product in this process; default: none, because another process has one */
  startStage: (distribution?: string) => Promise<Stage>;
}

/** Suites on real API servers with real Flux releases. */
export function onRealApis(
  name: string,
  suites: (ground: Ground) => void,
  start: () => Promise<RealApis> = startRealApis,
): void {
  withTestData(name, (fluxDistribution) => {
    let apis: RealApis;

    beforeAll(async () => {
      apis = await start();
    });

    afterAll(async () => {
      await apis?.stop();
    });

    const startApis = async () => ({ ...apis, stop: apis.forget });
    suites({
      startApis,
      fluxDistribution,
      apis: () => apis,
      startStage: async (distribution = '') => startStage(await startApis(), distribution),
    });
  });
}

/** Adds the last test of a file: the API servers have refused no request of the product. */
export function rightsSuffice({ apis }: Ground): void {
  it('has all the rights that it uses', async () => {
    expect(await refused(apis().servers)).toEqual([]);
  });
}

/** A Git server for the tests of the surrounding suite; available from the first test on. */
export function useGitServer(): () => GitServer {
  let git: GitServer;
  beforeAll(async () => {
    git = await startGitServer();
  });
  afterAll(() => git?.stop());
  return () => git;
}

/** What the tests of a suite find in place once they run. */
export interface UsedServers<Name extends string> {
  etcd: Etcd;
  servers: Record<Name, ApiServer>;
  /** An administrator's client of each. */
  clients: Record<Name, HttpKubeClient>;
  /** Deletes what was created since the start. */
  forget(): Promise<void>;
}

interface WantedServer extends Omit<ApiServerOptions, 'etcd' | 'prefix'> {
  /** Files with CRDs. */
  crds?: readonly string[];
}

/** Starts API servers over one etcd for the tests of the surrounding suite. */
export function useApiServers<Name extends string>(wanted: Record<Name, WantedServer>): UsedServers<Name> {
  const used = { servers: {}, clients: {} } as UsedServers<Name>;
  beforeAll(async () => {
    used.etcd = await startEtcd();
    const start = async (name: Name) => {
      const { crds = [], ...options }: WantedServer = wanted[name];
      const server = await startApiServer({ etcd: used.etcd, prefix: name, ...options });
      const { url, ca, adminToken: token } = server;
      used.servers[name] = server;
      used.clients[name] = patientClient({ server: url, ca, token });
      await installCrds(server, crds);
    };
    await Promise.all((Object.keys(wanted) as Name[]).map(start));
    used.forget = await rememberEtcd(used.etcd);
  });
  afterAll(async () => {
    for (const client of Object.values<HttpKubeClient>(used.clients)) client.close();
    await Promise.all(Object.values<ApiServer>(used.servers).map((server) => server.stop()));
    await used.etcd?.stop();
  });
  return used;
}
