import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { documents, example, root } from '../../integration/documents.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { requestJson } from '../cluster/request.ts';
import { buildTools } from '../tools/build.ts';

const PAGE = 'docs/install-deployment.md';
const page = documents.find(({ path }) => path === PAGE);
const blocks = (language: string) => (page?.fences ?? []).filter((fence) => fence.language === language);

let etcd: Etcd;
let server: ApiServer;
let folder: string;
beforeAll(async () => {
  etcd = await startEtcd();
  server = await startApiServer({ etcd, prefix: 'page' });
  const { helm } = await buildTools(['helm']);
  folder = await mkdtemp(join(tmpdir(), 'page-'));
  await mkdir(join(folder, 'bin'));
  await symlink(helm, join(folder, 'bin/helm'));
  await symlink(join(root, 'charts'), join(folder, 'charts'));
  const kubectl = `#!/bin/sh\nexec ${process.execPath} ${join(import.meta.dirname, 'kubectl.ts')} "$@"\n`;
  await writeFile(join(folder, 'bin/kubectl'), kubectl, { mode: 0o755 });
  await writeFile(join(folder, 'values.yaml'), blocks('yaml')[0]?.text ?? '');
});
afterAll(async () => {
  await server?.stop();
  await etcd?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the commands of a block as they stand. */
async function follow(block: string): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    KUBECONFIG: await server.kubeconfigFile(),
  };
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', block], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const deployments = async () => {
  const { items } = (await requestJson(server, 'GET', '/apis/apps/v1/namespaces/shoot-flux/deployments')) as {
    items: KubeObject[];
  };
  return items.map(({ metadata }) => metadata.name);
};

it('the page of one Deployment per seed is followed from an empty folder', async () => {
  const [pack = '', look = '', install = '', remove = '', ...more] = blocks('sh').map(({ text }) => text);
  expect(more).toEqual([]);
  expect(await follow(pack)).toContain('0 chart(s) failed');
  expect(await follow(look)).toContain('my-seed: in-cluster');
  await follow(install);
  expect(await deployments()).toContain('shoot-flux');
  await follow(remove);
  expect(await deployments()).toEqual([]);
});

it('its ConfigMap brings podinfo', () => {
  const { metadata, data } = parse(example(PAGE, 'ConfigMap'));
  expect(effectiveConfig({ fluxConfig: { namespace: metadata.namespace, data } })).toMatchObject({
    source: { spec: { url: 'https://github.com/stefanprodan/podinfo', ref: { branch: 'master' } } },
    kustomization: { spec: { path: './kustomize' } },
  });
});
