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

const foreverOn = (match: RequestMatch, status: number, message?: string) => ({
  ...{ match: { user: 'functions', ...match }, action: 'status' as const, status, times: Number.POSITIVE_INFINITY },
  ...(message !== undefined && { message }),
});
const nested = (name: string, more: object = {}) =>
  ({
    ...{ apiVersion: KUSTOMIZE, kind: 'Kustomization', metadata: { namespace: 'apps', name } },
    spec: { interval: '5m', path: './', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' }, ...more },
  }) as KubeObject;

it('suspending continues when one of many objects has disappeared', async () => {
  await using world = await startWithFlux(({ shoot }) => {
    for (let count = 0; count < 40; count++) shoot.objects.create(nested(`app-${count}`));
  });
  world.shoot.faults.add(foreverOn({ method: 'PATCH', path: /kustomizations\/app-0$/ }, 404));
  deletedShoot(world);
  await world.settle();
  const active = kustomizations(world).filter((object) => !isSuspended(object));
  expect(active.map(({ metadata }) => metadata.name)).toEqual(['app-0']);
});

describe('removing the extension', () => {
  const inApps: Step = ({ shoot }) => {
    const finalizers = ['finalizers.fluxcd.io', 'example.com/foreign'];
    shoot.objects.patch(nested('nested'), { metadata: { finalizers } });
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
    const message = 'admission webhook "policy.example.com" denied the request: hands off';
    world.shoot.faults.add(foreverOn({ method: 'PATCH', path: /kustomizations/ }, 403, message));
    await deleteNow(world);
    await untilGone(world);
    expect(names(world, 'apps/v1', 'Deployment')).toContain('kustomize-controller');
    expect(kustomizations(world).filter(isSuspended)).toEqual([]);
    expect(world.logLines.join()).toContain('the rest of it stays in the shoot');
  });

  it('resumes what it has suspended when the shoot disappears in the middle and comes back late', async () => {
    await using world = await startWithFlux();
    world.shoot.faults.add(foreverOn({ method: 'DELETE' }, 503));
    await deleteNow(world);
    expect(kustomizations(world).filter(isSuspended)).toHaveLength(2);
    world.shoot.faults.add({ ...foreverOn({ method: 'PATCH', path: /kustomizations/ }, 503), times: 3 });
    await untilGone(world);
    expect(world.logLines.join()).toContain('the rest of it stays in the shoot');
    expect(kustomizations(world).filter(isSuspended)).toEqual([]);
  });

  it('resumes only what it has suspended itself when one object cannot be suspended', async () => {
    await using world = await startWithFlux(({ shoot }) => {
      shoot.objects.create(nested('paused', { suspend: true }));
    });
    world.shoot.faults.add(foreverOn({ method: 'PATCH', path: /kustomizations\/nested/ }, 422));
    await deleteNow(world);
    const suspended = () => kustomizations(world).filter(isSuspended);
    expect(suspended().map(({ metadata }) => metadata.name)).toEqual(['paused', 'main-ks']);
    await untilGone(world);
    expect(suspended().map(({ metadata }) => metadata.name)).toEqual(['paused']);
    expect(names(world, 'apps/v1', 'Deployment')).toContain('kustomize-controller');
  });
});
