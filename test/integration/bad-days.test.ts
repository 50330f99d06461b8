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
  type Step,
} from '../scenarios/world/steps.ts';
import { startWorld, type World } from '../scenarios/world/world.ts';

/** Failures in a Shoot while the extension is added, runs or is removed, on the simulated clock of the world. */

const KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/v1';

/** Starts a world in which Flux is managed, Ready and has deployed objects, and then takes these steps. */
async function startWithFlux(...steps: Step[]): Promise<World> {
  const world = await startWorld();
  for (const step of [both(create(always), fluxWorks), deployed, ...steps]) {
    step(world);
    await world.settle();
  }
  return world;
}

const extensionOf = ({ gardenlet }: World) => gardenlet.extension() as Extension | undefined;
const kustomizations = ({ shoot }: World) => shoot.objects.list(KUSTOMIZE, 'Kustomization') as KubeObject[];
/** Lets gardenlet delete the Extension at the current time of the world. */
async function deleteNow(world: World): Promise<void> {
  const now = extensionOf(world)?.status?.lastOperation?.lastUpdateTime ?? '';
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(now) });
  deleteExtension(world);
  vi.useRealTimers();
  await world.settle();
}

/** Settles the world until the Extension is gone: it also settles while a controller only waits. */
async function untilGone(world: World): Promise<void> {
  for (let count = 0; count < 10 && extensionOf(world) !== undefined; count++) await world.settle();
  expect(extensionOf(world)).toBeUndefined();
}

afterEach(() => {
  vi.useRealTimers();
});

const isSuspended = ({ spec }: KubeObject) => (spec as { suspend?: boolean }).suspend === true;

describe('suspending', () => {
  const many: Step = ({ shoot }) => {
    for (let count = 0; count < 40; count++) {
      const metadata = { namespace: 'apps', name: `app-${count}` };
      const spec = { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } };
      shoot.objects.create({ apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata, spec } as KubeObject);
    }
  };

  it('continues when one of many objects has disappeared', async () => {
    await using world = await startWithFlux(many);
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

describe('removing the extension', () => {
  const inApps: Step = ({ shoot }) => {
    const nested = { apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata: { namespace: 'apps', name: 'nested' } };
    const finalizers = ['finalizers.fluxcd.io', 'example.com/foreign'];
    shoot.objects.patch(nested, { metadata: { finalizers } });
  };
  const bindings = ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'] as const;
  const names = ({ shoot }: World, apiVersion: string, kind: string) =>
    shoot.objects.list(apiVersion, kind).map(({ metadata }) => metadata.name);

  it('leaves no controller and no administrator behind when a foreign finalizer holds an object of Flux', async () => {
    await using world = await startWithFlux(inApps);
    expect(names(world, ...bindings).length).toBeGreaterThan(1);
    await deleteNow(world);
    await untilGone(world);
    expect(names(world, 'apps/v1', 'Deployment')).toEqual([]);
    // A default of Kubernetes.
    expect(names(world, ...bindings)).toEqual(['cluster-admin']);
    expect(names(world, 'v1', 'ConfigMap')).toContain('workload');
    expect(world.flux.pruned).toEqual([]);
  });

  it('leaves Flux running when a webhook of the Shoot denies suspending', async () => {
    await using world = await startWithFlux();
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
    expect(world.logLines.join()).toContain('the rest of it stays in the shoot');
  });

  it('resumes what it has suspended when the shoot disappears in the middle and comes back late', async () => {
    await using world = await startWithFlux();
    const fails = (match: RequestMatch, times: number) =>
      world.shoot.faults.add({ match: { user: 'functions', ...match }, action: 'status', status: 503, times });
    fails({ method: 'DELETE' }, Number.POSITIVE_INFINITY);
    await deleteNow(world);
    expect(kustomizations(world).filter(isSuspended)).toHaveLength(2);
    fails({ method: 'PATCH', path: /kustomizations/ }, 3);
    await untilGone(world);
    expect(world.logLines.join()).toContain('the rest of it stays in the shoot');
    expect(kustomizations(world).filter(isSuspended)).toEqual([]);
  });

  it('resumes only what it has suspended itself when one object cannot be suspended', async () => {
    await using world = await startWithFlux(({ shoot }) => {
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
