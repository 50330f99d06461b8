import { startCluster } from '@shoot-flux/landscape/cluster';
import { expect, it } from 'vitest';
import { createKubeClient } from '../kube/http-client.ts';
import { resources } from '../kube/resource.ts';
import { createLog, withLoggedDeletions } from './log.ts';

it('a deletion is logged with its reason, once, and the reason stays in this process', async () => {
  const { connection, api, stop } = await startCluster();
  const lines: Record<string, unknown>[] = [];
  const plain = createKubeClient(connection);
  const client = withLoggedDeletions(
    plain,
    'garden',
    createLog('info', (line) => lines.push(JSON.parse(line))),
  );
  const name = { namespace: 'default', name: 'a' };
  await client.create(
    resources.configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: name },
    { fieldManager: 'test' },
  );
  expect(await client.delete(resources.configMaps, name, { reason: 'nothing uses it' })).toBe(true);
  expect(await client.delete(resources.configMaps, name, { reason: 'nothing uses it' })).toBe(false);
  expect(lines).toMatchObject([
    { message: 'object deleted', cluster: 'garden', object: 'ConfigMap default/a', reason: 'nothing uses it' },
  ]);
  expect(JSON.stringify(api.requestsLike({ method: 'DELETE' }))).not.toContain('nothing uses it');
  plain.close();
  await stop();
});
