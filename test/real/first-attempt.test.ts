import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Controller } from '@shoot-flux/landscape/controllers';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { ageKey } from './age-key.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { startKustomizeController } from './cluster/kustomize-controller.ts';
import { startRealSourceController } from './cluster/source-controller.ts';
import { buildTools } from './tools/build.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const run = promisify(execFile);
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inDefault = (name: string) => ({ namespace: 'default', name });
const inProject = (name: string) => ({ namespace: PROJECT, name });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const dataOf = (secret: KubeObject | undefined, key: string) =>
  Buffer.from((secret?.data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString();

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('with the real source-controller and kustomize-controller', () => {
  let apis: RealApis;
  let git: GitServer;
  let stage: Stage;
  let nodes: Controller;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  beforeEach(async () => {
    stage = await startStage({ ...apis, stop: apis.forget }, fluxDistribution ?? '');
    const { url, ca, token } = apis.shoot;
    const kubeconfigFile = await apis.servers.shoot.kubeconfigFile();
    nodes = await startNodes(
      { server: url, ca, token },
      {
        programs: {
          'source-controller': () => startRealSourceController(kubeconfigFile),
          'kustomize-controller': () => startKustomizeController({ kubeconfigFile }),
        },
      },
    );
    await stage.startProduct();
  });

  afterEach(async () => {
    await nodes?.stop();
    await stage?.[Symbol.asyncDispose]();
    await apis?.forget();
  });

  const put = (name: string, values: Record<string, string>) =>
    stage.garden.apply(
      resources.secrets,
      {
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: inProject(name), type: 'Opaque' },
        data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
      } as KubeObject,
      { fieldManager: 'person' },
    );
  const conditionOf = (object: KubeObject | undefined, type: string) =>
    (object?.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.find(
      (condition) => condition.type === type,
    )?.status;

  it('a private SSH repository with a SOPS-encrypted Secret and variables is Ready on the first attempt', async () => {
    const { identity, recipient } = ageKey();
    const repository = await git.createRepository('fleet', {
      'secret.yaml': await encrypted(recipient, { password: 'open sesame' }),
      'config-map.yaml': JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } },
        data: { team: '$' + '{team}', shoot: '$' + '{SHOOT_NAME}' },
      }),
    });
    await stage.setFluxConfig({
      repositoryUrl: repository.sshUrl,
      repositoryBranch: 'main',
      repositoryType: 'private',
      knownHosts: git.knownHosts,
      repositoryInterval: '1h',
      kustomizationInterval: '1h',
    });
    const source = await eventually(
      'the deploy key',
      () => stage.garden.find(resources.secrets, inProject('flux-source')),
      (live) => live !== undefined,
    );
    git.addDeployKey(repository.name, dataOf(source, 'identity.pub'));
    await put('flux-sops', { 'age.agekey': identity });
    await put('flux-variables', { team: 'blue' });

    await stage.reconcileShoot();
    await stage.untilReady();
    const settings = () => stage.shoot.find(resources.configMaps, inDefault('settings'));
    const live = await eventually('the manifests', settings, (found) => found !== undefined, undefined, 90);
    expect(live?.data).toEqual({ team: 'blue', shoot: 'bar' });
    const secret = await stage.shoot.find(resources.secrets, inDefault('credentials'));
    expect(dataOf(secret, 'password')).toBe('open sesame');
    const kustomization = await eventually(
      'the Kustomization is Ready',
      () => stage.shoot.find(kustomizations, inFlux('main-ks')),
      (found) => conditionOf(found, 'Ready') === 'True',
      (found) => found?.status,
      30,
    );
    await expectNoFailure(kustomization);

    // An interval of an hour: only the label of the copy and our request can be faster.
    await put('flux-variables', { team: 'green' });
    await eventually(
      'the rotated variable',
      settings,
      (found) => (found?.data as { team?: string } | undefined)?.team === 'green',
    );
    await eventually(
      'the source has followed the request',
      () => stage.shoot.find(gitRepositories, inFlux('main-gitrepo')),
      (found) => {
        const asked = found?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
        return (
          asked !== undefined &&
          (found?.status as { lastHandledReconcileAt?: string } | undefined)?.lastHandledReconcileAt === asked
        );
      },
      (found) => found?.status,
    );
    await expectNoFailure(await stage.shoot.find(kustomizations, inFlux('main-ks')));
    const said = stage.logLines.join('') + JSON.stringify(await stage.extension());
    for (const word of [identity, 'open sesame']) expect(said).not.toContain(word);
  });

  /** No controller has reported a failure, and each attempt of the Kustomization has succeeded. */
  const expectNoFailure = async (kustomization: KubeObject | undefined) => {
    const { items } = await stage.shoot.list(resources.events, { namespace: 'flux-system' });
    const warnings = items
      .filter(({ type }) => type === 'Warning')
      .map(({ reason, message }) => `${reason}: ${message}`);
    expect(warnings).toEqual([]);
    const status = kustomization?.status as { history?: { lastReconciledStatus: string }[] } | undefined;
    const history = status?.history ?? [];
    expect(new Set(history.map(({ lastReconciledStatus }) => lastReconciledStatus))).toEqual(
      new Set(['ReconciliationSucceeded']),
    );
  };
});

/** A Secret that only the owner of the key can read. */
async function encrypted(recipient: string, stringData: Record<string, string>): Promise<string> {
  const { sops } = await buildTools(['sops']);
  const folder = await mkdtemp(join(tmpdir(), 'sops-'));
  try {
    const file = join(folder, 'secret.yaml');
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'credentials' }, stringData };
    await writeFile(file, JSON.stringify(secret));
    const args = [
      'encrypt',
      '--age',
      recipient,
      '--encrypted-regex',
      '^(data|stringData)$',
      '--output-type',
      'yaml',
      file,
    ];
    return (await run(sops, args)).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
