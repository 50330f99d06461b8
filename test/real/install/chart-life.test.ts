import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { findAllDefinitions } from '../../../infra/functions.ts';
import { rbacObjects } from '../../../infra/gardener/rbac.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { root } from '../../integration/documents.ts';
import { testDistribution } from '../../made-distribution.ts';
import { eventually, SEED, startStage } from '../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { seedCrds } from '../cluster/crds.ts';
import { freePorts } from '../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/process.ts';
import { gardenletValues, INSTALLATION } from './gardenlet-values.ts';
import { renderChart } from './helm.ts';
import { liveOneLife } from './life.ts';
import { applyObjects, serviceAccountToken } from './objects.ts';
import { installOptionalKinds } from './optional-kinds.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const main = join(root, 'infra', 'cli', 'main.ts');

/** The identity of the installation in the garden: gardenlet creates it in the namespace of the seed. */
const gardenAccount = { namespace: `seed-${SEED}`, name: INSTALLATION };
const accounts = [
  `system:serviceaccount:${gardenAccount.namespace}:${gardenAccount.name}`,
  `system:serviceaccount:${INSTALLATION}:shoot-flux`,
];

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('the chart of one Deployment per seed', () => {
  let apis: RealApis;
  let objects: KubeObject[];
  beforeAll(async () => {
    apis = await startRealApis();
    const values = { ...gardenletValues(SEED), config: { shootHealth: true, logLevel: 'debug' } };
    objects = await renderChart({ namespace: INSTALLATION, values });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: INSTALLATION } };
    await installOptionalKinds(apis.servers.seed);
    await applyObjects(apis.servers.seed, [namespace, ...objects]);
    await applyObjects(apis.servers.garden, await gardenRights());
  });
  afterAll(async () => {
    await apis?.stop();
  });

  it('carries a Shoot through its life with nothing but the rendered rights, killed at random', async () => {
    await using stage = await startStage(apis, '');
    const start = async () => startPod(apis, objects);
    let pod = await start();
    const disturb = async () => {
      await sleep(randomInt(1500));
      await pod.stop();
      pod = await start();
    };
    try {
      expect(await liveOneLife(stage, { disturb })).toContain('remove');
      await eventually('it is ready', pod.readyz, (code) => code === 200);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${await pod.output()}`, { cause: error });
    } finally {
      await pod.stop();
    }
  });

  it('was refused nothing by any API server, and used no other identity', async () => {
    const { garden, seed } = apis.servers;
    const entries = [...(await garden.auditEntries()), ...(await seed.auditEntries())];
    const ours = entries.filter(({ userAgent }) => userAgent.startsWith('shoot-flux/'));
    expect([...new Set(ours.map(({ user }) => user))].sort()).toEqual([...accounts].sort());
    const refused = ours.filter(({ code }) => code === 401 || code === 403);
    expect(refused.map(({ verb, requestUri }) => `${verb} ${requestUri}`)).toEqual([]);
  });
});

/** The rights of the installation in the garden, where it has one identity. */
async function gardenRights(): Promise<KubeObject[]> {
  const roles = rbacObjects(await findAllDefinitions(), 'garden').filter(({ kind }) => kind === 'ClusterRole');
  const rbac = 'rbac.authorization.k8s.io';
  const subjects = [{ kind: 'ServiceAccount', ...gardenAccount }];
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: gardenAccount.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: gardenAccount },
    ...roles.map(
      ({ metadata: { name } }): KubeObject => ({
        apiVersion: `${rbac}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: `installation:${name}` },
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects,
      }),
    ),
  ];
}

interface Pod extends Pick<RunningProgram, 'output' | 'stop'> {
  /** Status of its readiness probe; 0 without an answer. */
  readyz(): Promise<number>;
}

/**
 * Starts the rendered container as a process: with its arguments, its config file and the variables that gardenlet adds.
 * Only what a kubelet would mount elsewhere is named by flags: the ServiceAccount's token, the distribution, the port.
 */
async function startPod({ servers: { garden, seed } }: RealApis, objects: KubeObject[]): Promise<Pod> {
  const folder = await programFolder('chart');
  const config = objects.find(({ kind }) => kind === 'ConfigMap')?.data as Record<string, string>;
  const deployment = objects.find(({ kind }) => kind === 'Deployment')?.spec as Deployment;
  const [port = 0] = await freePorts(1);
  const [gardenFile, seedFile] = await Promise.all([
    kubeconfigFile(garden, gardenAccount),
    kubeconfigFile(seed, { namespace: INSTALLATION, name: deployment.template.spec.serviceAccountName }),
  ]);
  const configFile = join(folder, 'config.yaml');
  await writeFile(configFile, config['config.yaml'] ?? '');
  const [container] = deployment.template.spec.containers;
  const given = (container?.args ?? []).map((arg) => (arg === '/etc/shoot-flux/config.yaml' ? configFile : arg));
  const mounted = ['--seed', `${SEED}=${seedFile}`, '--flux-distribution', fluxDistribution ?? '', '--port', `${port}`];
  const args = [main, ...given, ...mounted];
  const env = { GARDEN_KUBECONFIG: gardenFile, SEED_NAME: SEED };
  const program = await startProgram({ name: 'shoot-flux', command: process.execPath, args, env, folder });
  const readyz = async () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  return { output: program.output, stop: program.stop, readyz };
}

interface Deployment {
  template: { spec: { serviceAccountName: string; containers: { args: string[] }[] } };
}

async function kubeconfigFile(server: ApiServer, { namespace, name }: { namespace: string; name: string }) {
  return server.kubeconfigFile(await serviceAccountToken(server, namespace, name));
}
