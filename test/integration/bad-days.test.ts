import type { RequestMatch } from '@shoot-flux/landscape/kube-api';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Extension } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import {
  always,
  both,
  create,
  deletedShoot,
  deleteExtension,
  deployed,
  fluxWorks,
  reconcile,
  type Step,
} from '../scenarios/world/steps.ts';
import { startWorld, type World, type WorldOptions } from '../scenarios/world/world.ts';

/** What goes wrong in a Shoot while the extension comes, stays or leaves; on the world's own clock. */

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/v1';
const root = { apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata: { namespace: 'flux-system', name: 'main-ks' } };
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'flux-system', name: 'held' } };

/** Flux is managed, has come up and has deployed something; then this happens. */
async function living(options: WorldOptions, ...steps: Step[]): Promise<World> {
  const world = await startWorld(options);
  for (const step of [both(create(always), fluxWorks), deployed, ...steps]) {
    step(world);
    await world.settle();
  }
  return world;
}

const extensionOf = ({ gardenlet }: World) => gardenlet.extension() as Extension | undefined;
const kustomizations = ({ shoot }: World) => shoot.objects.list(KUSTOMIZE, 'Kustomization') as KubeObject[];
/** gardenlet deletes the Extension, at the world's time. */
async function deleteNow(world: World): Promise<void> {
  const now = extensionOf(world)?.status?.lastOperation?.lastUpdateTime ?? '';
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(now) });
  deleteExtension(world);
  vi.useRealTimers();
  await world.settle();
}

/** The world is calm when nothing has changed for a while, however much longer somebody is patient. */
async function untilGone(world: World): Promise<void> {
  for (let count = 0; count < 10 && extensionOf(world) !== undefined; count++) await world.settle();
  expect(extensionOf(world)).toBeUndefined();
}

afterEach(() => {
  vi.useRealTimers();
});

const isSuspended = ({ spec }: KubeObject) => (spec as { suspend?: boolean }).suspend === true;

describe('the extension comes back while the namespace of the former Flux still goes', () => {
  const held = { metadata: { ...account.metadata, finalizers: ['example.com/slow'] } };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };

  it('the namespace that comes after it is ours, and Flux comes up in it', async () => {
    await using world = await living({ delivery: 'Direct' }, ({ shoot }) =>
      shoot.objects.create({ ...account, ...held } as KubeObject),
    );
    deleteExtension(world);
    await world.settle();
    expect(world.shoot.objects.find(namespace)?.metadata.deletionTimestamp).toBeDefined();
    reconcile()(world);
    await world.settle();
    expect(extensionOf(world)?.status?.lastError?.description).toContain('is being deleted');
    world.shoot.objects.patch(account, { metadata: { finalizers: null } });
    await expect.poll(() => world.shoot.objects.find(namespace)).toBeUndefined();
    reconcile()(world);
    await world.settle();
    expect(extensionOf(world)?.status).toMatchObject({
      lastOperation: { state: 'Succeeded' },
      state: { applied: { ownsNamespace: true } },
    });
    expect(world.shoot.objects.find(root)).toBeDefined();
  });
});

describe('suspending', () => {
  const many: Step = ({ shoot }) => {
    for (let count = 0; count < 40; count++) {
      const metadata = { namespace: 'apps', name: `app-${count}` };
      const spec = { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } };
      shoot.objects.create({ apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata, spec } as KubeObject);
    }
  };

  it('goes on when one of many has gone in between', async () => {
    await using world = await living({}, many);
    world.shoot.faults.add({
      match: { user: 'functions', method: 'PATCH', path: /kustomizations\/app-0$/ },
      action: 'status',
      status: 404,
      times: Number.POSITIVE_INFINITY,
    });
    deletedShoot(world);
    await world.settle();
    const active = kustomizations(world).filter((object) => !isSuspended(object));
    expect(active.map(({ metadata }) => metadata.name)).toEqual(['app-0']);
  });
});

describe('the extension leaves', () => {
  const inApps: Step = ({ shoot }) => {
    const nested = { apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata: { namespace: 'apps', name: 'nested' } };
    const finalizers = ['finalizers.fluxcd.io', 'example.com/foreign'];
    shoot.objects.patch(nested, { metadata: { finalizers } });
  };
  const bindings = ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'] as const;
  const names = ({ shoot }: World, apiVersion: string, kind: string) =>
    shoot.objects.list(apiVersion, kind).map(({ metadata }) => metadata.name);

  it('although a foreign finalizer holds an object of Flux: no controller and no administrator stays behind', async () => {
    await using world = await living({}, inApps);
    expect(names(world, ...bindings).length).toBeGreaterThan(1);
    await deleteNow(world);
    await untilGone(world);
    expect(names(world, 'apps/v1', 'Deployment')).toEqual([]);
    // Kubernetes' own.
    expect(names(world, ...bindings)).toEqual(['cluster-admin']);
    expect(names(world, 'v1', 'ConfigMap')).toContain('workload');
    expect(world.flux.pruned).toEqual([]);
  });

  it('although a webhook of the Shoot refuses to suspend anything: Flux stays, working', async () => {
    await using world = await living({});
    world.shoot.faults.add({
      match: { user: 'functions', method: 'PATCH', path: /kustomizations/ },
      action: 'status',
      status: 403,
      message: 'admission webhook "policy.example.com" denied the request: hands off',
      times: Number.POSITIVE_INFINITY,
    });
    await deleteNow(world);
    await untilGone(world);
    expect(names(world, 'apps/v1', 'Deployment')).toContain('kustomize-controller');
    expect(kustomizations(world).filter(isSuspended)).toEqual([]);
    expect(world.logLines.join()).toContain('what is left of it stays');
  });

  it('although the shoot goes away in the middle, and is back a little late: what we have suspended goes on', async () => {
    await using world = await living({});
    const fails = (match: RequestMatch, times: number) =>
      world.shoot.faults.add({ match: { user: 'functions', ...match }, action: 'status', status: 503, times });
    fails({ method: 'DELETE' }, Number.POSITIVE_INFINITY);
    await deleteNow(world);
    expect(kustomizations(world).filter(isSuspended)).toHaveLength(2);
    fails({ method: 'PATCH', path: /kustomizations/ }, 3);
    await untilGone(world);
    expect(world.logLines.join()).toContain('what is left of it stays');
    expect(kustomizations(world).filter(isSuspended)).toEqual([]);
  });

  it('although one object cannot be suspended: what we have suspended goes on, what others have stays suspended', async () => {
    await using world = await living({}, ({ shoot }) => {
      const metadata = { namespace: 'apps', name: 'paused' };
      const spec = {
        interval: '5m',
        path: './',
        prune: true,
        suspend: true,
        sourceRef: { kind: 'GitRepository', name: 'a' },
      };
      shoot.objects.create({ apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata, spec } as KubeObject);
    });
    world.shoot.faults.add({
      match: { user: 'functions', method: 'PATCH', path: /kustomizations\/nested/ },
      action: 'status',
      status: 422,
      times: Number.POSITIVE_INFINITY,
    });
    await deleteNow(world);
    const suspended = () => kustomizations(world).filter(isSuspended);
    expect(suspended().map(({ metadata }) => metadata.name)).toEqual(['paused', 'main-ks']);
    await untilGone(world);
    expect(suspended().map(({ metadata }) => metadata.name)).toEqual(['paused']);
    expect(names(world, 'apps/v1', 'Deployment')).toContain('kustomize-controller');
  });
});
