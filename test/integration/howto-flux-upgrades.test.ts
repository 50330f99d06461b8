import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startCluster } from '@shoot-flux/landscape/cluster';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { helmReleases } from '@shoot-flux/landscape/flux/objects';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { documented, example, root } from './documents.ts';

const validate = documented(
  'docs/howto/flux-upgrades.md',
  'npm run --silent shoot-flux -- validate --flux-distribution ./distribution --flux-config flux-config.yaml --upgrade-from v2.8.8',
);

const deleteObjects = documented(
  'docs/howto/flux-upgrades.md',
  'kubectl --kubeconfig my-shoot.kubeconfig delete helmreleases --all --all-namespaces',
);
const deleteKinds = documented(
  'docs/howto/flux-upgrades.md',
  'kubectl --kubeconfig my-shoot.kubeconfig delete customresourcedefinitions --selector app.kubernetes.io/component=helm-controller',
);
const release = {
  apiVersion: 'helm.toolkit.fluxcd.io/v2',
  kind: 'HelmRelease',
  metadata: { namespace: 'apps', name: 'podinfo' },
  spec: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } } },
} as KubeObject;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flux-upgrades-'));
  const standIn = join(standInDistribution.folder, standInDistribution.version);
  await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
  await writeFile(join(folder, 'flux-config.yaml'), example('docs/howto/flux-upgrades.md', 'ConfigMap'));
});
afterAll(() => rm(folder, { recursive: true }));

test('the page shows what an upgrade changes', () => {
  // npm starts this program in the folder of the checkout; here it starts beside the files.
  const line = validate.replace('npm run --silent shoot-flux --', `node ${join(root, 'infra/cli/shoot-flux.js')}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  const warnings = stderr.trimEnd().split('\n');
  expect(warnings.length).toBeGreaterThan(2);
  for (const warning of warnings) expect(warning).toMatch(/^warning: From Flux v2\.9\.0 on .+; .+\.$/);
});

test('the commands delete the objects of one component in all namespaces, and its kinds', async () => {
  const { files } = await openDistribution(standInDistribution.folder).release(standInDistribution.version);
  const crds = [...files.values()].flat().filter(isCrd);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps' } };
  const shoot = await startCluster([...crds, namespace]);
  await shoot.client.create(helmReleases, release, { fieldManager: 'person' });
  await writeFile(join(folder, 'my-shoot.kubeconfig'), shoot.kubeconfig);
  const run = (command: string) => {
    const line = command.replace('kubectl', `node ${join(import.meta.dirname, 'kubectl.ts')}`);
    return promisify(execFile)('sh', ['-c', line], { cwd: folder });
  };
  await run(deleteObjects);
  expect(await shoot.client.find(helmReleases, release.metadata)).toBeUndefined();
  await run(deleteKinds);
  const { items } = await shoot.client.list(resources.customResourceDefinitions);
  expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(
    crds
      .map(({ metadata }) => metadata.name)
      .filter((name) => !name.startsWith('helmreleases'))
      .sort(),
  );
  await shoot.stop();
});
