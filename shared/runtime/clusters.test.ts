import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { resources } from '../kube/resource.ts';
import { kubeconfigOf, sendJson, startTlsServer, statusBody } from '../kube/testing.ts';
import { createClusters, kubeconfigFiles } from './clusters.ts';

test('reads a replaced kubeconfig after the first 401', async () => {
  await using server = await startTlsServer((request, response) =>
    request.headers.authorization === 'Bearer new'
      ? sendJson(response, 200, { metadata: { name: 'x' } })
      : sendJson(response, 401, statusBody(401, 'Unauthorized', 'no')),
  );
  const { ca = '', server: address } = server.connection;
  const cluster = { server: address, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const write = (token: string) => stringify(kubeconfigOf({ token }, cluster));
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rm(path, { recursive: true }));
  await writeFile(join(path, 'config'), write('old'));
  const clusters = createClusters(kubeconfigFiles({ garden: join(path, 'config') }));
  const find = async () => (await clusters('garden')).find(resources.secrets, { namespace: 'a', name: 'x' });

  await expect(find()).rejects.toMatchObject({ status: 401 });
  await writeFile(join(path, 'config'), write('new'));
  await expect(find()).resolves.toBeDefined();
  expect(await clusters('garden')).toBe(await clusters('garden'));
  await expect(clusters('seed')).rejects.toThrow('Cluster seed has no kubeconfig; known clusters: garden');
  (await clusters('garden')).close();
});

test("uses the pod's ServiceAccount where the file is called in-cluster", async () => {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', undefined);
  await expect(kubeconfigFiles({ local: 'in-cluster' })('local')).rejects.toThrow('KUBERNETES_SERVICE_HOST');
});

test('reads credentials that cannot be read only every other second, also when many calls need them', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let reads = 0;
  const clusters = createClusters(async () => {
    reads++;
    throw new Error('the plugin failed');
  });
  for (let call = 0; call < 10; call++) await expect(clusters('local')).rejects.toThrow('the plugin failed');
  expect(reads).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  await expect(clusters('local')).rejects.toThrow('the plugin failed');
  expect(reads).toBe(2);
});
