import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyPage } from '../../functions/managed-resources/shoot/pages.ts';
import { resumeAll, suspendAll } from '../../functions/managed-resources/shoot/suspend.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';

/** More than two pages of 250. */
const MANY = 600;
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kustomizations.kustomize.toolkit.fluxcd.io' },
  spec: {
    group: 'kustomize.toolkit.fluxcd.io',
    names: {
      plural: 'kustomizations',
      singular: 'kustomization',
      kind: 'Kustomization',
      listKind: 'KustomizationList',
    },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describe('a shoot with very many objects', () => {
  let api: Awaited<ReturnType<typeof startKubeApi>>;
  let shoot: HttpKubeClient;
  let requests = 0;

  beforeAll(async () => {
    const objects = Array.from({ length: MANY }, (_, index) => ({
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { namespace: 'default', name: `app-${index}` },
      spec: { path: './' },
    }));
    api = await startKubeApi({ objects: [crd] });
    for (const object of objects) api.objects.create(object);
    const { url: server, ca, token } = api;
    const onRequest = () => {
      requests++;
    };
    shoot = createKubeClient({ server, ca, token }, { onRequest });
  });

  afterAll(async () => {
    shoot.close();
    await api.stop();
  });

  const suspended = () =>
    api.objects
      .list('kustomize.toolkit.fluxcd.io/v1', 'Kustomization')
      .filter(({ spec }) => (spec as { suspend?: boolean }).suspend === true).length;
  /** The time is up after so many requests. */
  const upAfter = (count: number) => {
    const end = requests + count;
    return () => requests >= end;
  };

  it('is read page by page until the time is up, and no page after it', async () => {
    const seen: number[] = [];
    const act = async (items: unknown[]) => seen.push(items.length) > 0;
    const before = requests;
    expect(await everyPage(shoot, kustomizations, { isTimeUp: () => true }, act)).toBe(false);
    expect([seen, requests - before]).toEqual([[250], 1]);
    expect(await everyPage(shoot, kustomizations, { isTimeUp: () => false }, act)).toBe(true);
    expect(seen).toEqual([250, 250, 250, 100]);
  });

  it('is suspended and resumed in parts, each within its time, until all are done', async () => {
    const before = requests;
    expect(await suspendAll(shoot, upAfter(100))).toBe(false);
    expect(requests - before).toBeLessThan(130);
    for (let isDone = false; !isDone; ) isDone = await suspendAll(shoot, upAfter(200));
    expect(suspended()).toBe(MANY);
    const half = requests;
    expect(await resumeAll(shoot, upAfter(100))).toBe(false);
    expect(requests - half).toBeLessThan(130);
    expect(suspended()).toBeGreaterThan(0);
    for (let isDone = false; !isDone; ) isDone = await resumeAll(shoot, upAfter(200));
    expect(suspended()).toBe(0);
  });
});
