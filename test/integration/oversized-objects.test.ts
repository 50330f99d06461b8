import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { sizeProblem } from '../../shared/config/limits.ts';
import { clusterOf, extensionOf } from '../../shared/gardener/read-objects.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { startTlsServer } from '../../shared/kube/testing.ts';
import { type Apis, CONTROL_PLANE, eventually, type Stage, startStage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const name = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
const config = (parts: object) => ({
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  ...parts,
});
const sentence =
  'providerConfig has more than 5,000 values in all its objects and lists; move long content to the repository.';

describe('an Extension with more values than are read in one turn', () => {
  let apis: Apis;
  let stage: Stage;
  beforeEach(async () => {
    apis = await startEmbeddedApis();
    stage = await startStage(apis, ownDistribution);
  });
  afterEach(async () => {
    await stage[Symbol.asyncDispose]();
    await apis.stop();
  });

  /** gardenlet writes it to the Extension, and with the Shoot to the Cluster. */
  const ask = (providerConfig: unknown) =>
    stage.reconcileShoot({ providerConfig, spec: { extensions: [{ type: 'shoot-flux', providerConfig }] } });

  const untilRejected = () =>
    eventually(
      'the sentence',
      stage.extension,
      ({ status }) => status?.lastError?.description.includes('5,000') === true,
      ({ status }) => status,
    );

  it('gets one sentence whether a list or a watch brings it, and keeps what was applied', async () => {
    await stage.startProduct();
    await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
    const before = await stage.untilReady();
    const written = Object.keys(await stage.managedResources());
    expect(written).toContain('shoot-flux-controllers');
    await ask(config(fields(6_000)));
    const live = await untilRejected();
    expect(live.status?.lastError?.description).toBe(sentence);
    expect(live.status?.lastOperation).toMatchObject({ state: 'Error', description: sentence });
    expect(live.status?.state?.applied).toEqual(before.status?.state?.applied);
    expect(Object.keys(await stage.managedResources())).toEqual(written);

    await stage.stopProduct();
    await ask(config(fields(6_001)));
    await stage.startProduct();
    await eventually(
      'its answer',
      stage.extension,
      ({ metadata, status }) => status?.observedGeneration === metadata.generation,
    );
    expect((await untilRejected()).status?.lastError?.description).toBe(sentence);

    await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
    await stage.untilReady();
  });

  it('is deleted like any other', async () => {
    await stage.startProduct();
    await ask(config(fields(6_000)));
    await untilRejected();
    await stage.deleteExtension();
    await eventually(
      'it is gone',
      () => stage.seed.find(resources.extensions, name),
      (live) => live === undefined,
    );
  });
});

test('16 MiB are read in turns, and marks replace their oversized parts', async () => {
  const object = { metadata: { ...name, resourceVersion: '1' }, spec: { type: 'shoot-flux', class: 'shoot' } };
  const text = JSON.stringify({ ...object, spec: { providerConfig: '', ...object.spec } });
  const body = Buffer.from(text.replace('""', `${'['.repeat(7_000_000)}${']'.repeat(7_000_000)}`));
  await using server = await startTlsServer((_, response) => void response.end(body));
  const client = createKubeClient(server.connection);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const extension = extensionOf((await client.find(resources.extensions, name)) as KubeObject);
  clearInterval(timer);
  client.close();
  expect(sizeProblem(extension.spec.providerConfig)).toBe(sentence.slice(0, -1).replace('providerConfig ', ''));
  expect(extension.spec).toMatchObject(object.spec);
  // The work takes about 100 ms, in pieces of 5 to 10 ms.
  expect(turns).toBeGreaterThan(5);
});

test('an object whose readers expect no marks is refused with one sentence', async () => {
  const body = JSON.stringify({ metadata: { ...name, resourceVersion: '1' }, data: fields(80_000) });
  await using server = await startTlsServer((_, response) => void response.end(body));
  const client = createKubeClient(server.connection, { name: 'the garden' });
  await expect(client.find(resources.secrets, name)).rejects.toThrow(
    /^GET secrets shoot--foo--bar\/shoot-flux: an object in the answer of the garden has more than 150000 values and keys, so it is not read; make it smaller$/,
  );
  expect(await client.delete(resources.secrets, name)).toBe(true);
  client.close();
});

test('a list of Clusters is read without oversized parts, and names those of a Shoot', async () => {
  const shoot = (spec: object) => ({ metadata: { name: 'bar', namespace: 'garden-foo' }, spec });
  const cluster = (index: number, spec: object) => ({ metadata: { name: `c${index}` }, spec: { shoot: shoot(spec) } });
  const items = [
    cluster(0, { extensions: [{ type: 'shoot-flux', providerConfig: fields(80_000) }], resources: [] }),
    cluster(1, { resources: Array.from({ length: 80_000 }, () => ({})) }),
  ];
  const body = JSON.stringify({ metadata: { resourceVersion: '1' }, items });
  await using server = await startTlsServer((_, response) => void response.end(body));
  const client = createKubeClient(server.connection);
  const list = await client.list(resources.clusters);
  client.close();
  expect(list.items.map((item) => clusterOf(item)?.oversized)).toEqual([undefined, ['spec.resources']]);
  expect(clusterOf(list.items[0] as KubeObject)?.spec.shoot.spec?.extensions?.[0]?.type).toBe('shoot-flux');
});
