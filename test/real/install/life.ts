import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect } from 'vitest';
import type { Extension } from '../../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, creating, eventually, PROJECT, type ShootParts, type Stage } from '../../scenarios/stage.ts';

export interface LifeOptions {
  /** Called after each change, before its effect is awaited, with the name of the step: to kill a process, for example. */
  disturb?: (step: string) => Promise<void>;
  /** Longest wait for one effect. Default: 60 s. After a kill, SQS gives a message again only after its visibility timeout. */
  seconds?: number;
}

/** One step: what a user or gardenlet does, and what must follow. */
interface Step {
  change(): Promise<void>;
  expect(): Promise<void>;
}

const fieldManager = 'life';
const extensionName = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
const configName = { namespace: PROJECT, name: 'flux-config' };
const sourceName = { namespace: PROJECT, name: 'flux-source' };
const kubeconfigName = { namespace: CONTROL_PLANE, name: 'gardener' };
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const all = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];
const asleep: ShootParts = { spec: { hibernation: { enabled: true } }, status: { hibernated: true } };
const config = (repositoryBranch: string, syncMode = 'Reconcile') => ({
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryBranch,
  repositoryType: 'private',
  syncMode,
});

/**
 * Leads one Shoot through its life: create, config change, key rotation, hibernate, wake, migrate, remove. The product
 * runs already, anywhere; it serves garden and seed of the stage. Rejects at the first step whose end state is wrong.
 * @returns the names of the steps
 */
export async function liveOneLife(stage: Stage, { disturb, seconds = 60 }: LifeOptions = {}): Promise<string[]> {
  const steps = stepsOf(stage, { stage, seconds });
  for (const [name, step] of Object.entries(steps)) {
    await step.change();
    await disturb?.(name);
    try {
      await step.expect();
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  return Object.keys(steps);
}

function stepsOf(stage: Stage, waiting: Waiting): Record<string, Step> {
  let beforeSleep: Record<string, string | undefined> = {};
  let access: KubeObject | undefined;
  let rotated: Record<string, string> = {};
  let record: Extension | undefined;
  let inShoot: Record<string, string | undefined> = {};

  const dataIn = async (place: 'garden' | 'shoot') => {
    const name = place === 'garden' ? sourceName : inFlux('flux-source');
    return ((await stage[place].find(resources.secrets, name))?.data ?? {}) as Record<string, string>;
  };
  const versions = async () =>
    Object.fromEntries(
      Object.entries(await stage.managedResources()).map(([name, { metadata }]) => [name, metadata.resourceVersion]),
    );
  const untilBranch = (branch: string) =>
    until(waiting, `branch ${branch}`, async () => {
      const live = await stage.shoot.find(gitRepositories, inFlux('main-gitrepo'));
      expect(live?.spec).toMatchObject({ ref: { branch } });
    });
  const ask = async (operation: string) => {
    const timestamp = new Date().toISOString();
    const annotations = { 'gardener.cloud/operation': operation, 'gardener.cloud/timestamp': timestamp };
    await stage.seed.mergePatch(resources.extensions, extensionName, { metadata: { annotations } }, { fieldManager });
  };
  const rotate = async (phase: 'start' | 'complete') => {
    const annotations = { 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` };
    await stage.garden.mergePatch(resources.configMaps, configName, { metadata: { annotations } }, { fieldManager });
  };
  const untilManaged = (names: string[]) =>
    until(waiting, 'the ManagedResources', async () => {
      expect(Object.keys(await stage.managedResources()).sort()).toEqual(names);
    });

  return {
    create: {
      async change() {
        await stage.setFluxConfig(config('main'));
        await stage.reconcileShoot({ status: { lastOperation: creating } });
      },
      async expect() {
        const { metadata, status } = await stage.untilReady(waiting.seconds);
        expect(metadata.finalizers).toEqual(['extensions.gardener.cloud/shoot-flux']);
        expect(status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded' });
        await untilManaged(all);
        await untilBranch('main');
        expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
        const key = await dataIn('garden');
        expect(Object.keys(key).sort()).toEqual(['identity', 'identity.pub', 'known_hosts']);
        expect(await dataIn('shoot')).toEqual(key);
        await until(waiting, 'the Event with the deploy key', async () => {
          const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
          expect(JSON.stringify(items)).toContain(text(key['identity.pub']).trim());
        });
        await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
        await untilBootstrapped(stage, waiting);
        inShoot = await identitiesIn(stage);
      },
    },
    'config change': {
      change: () => stage.setFluxConfig(config('other')),
      expect: async () => void (await untilBranch('other')),
    },
    'key rotation prepared': {
      change: () => rotate('start'),
      expect: () =>
        until(waiting, 'the next key', async () => {
          rotated = await dataIn('garden');
          expect(Object.keys(rotated)).toContain('identity.next');
          const live = await stage.garden.find(resources.configMaps, configName);
          expect(live?.metadata.annotations ?? {}).not.toHaveProperty(['gardener.cloud/operation']);
        }),
    },
    'key rotation completed': {
      change: () => rotate('complete'),
      expect: () =>
        until(waiting, 'the new key in the shoot', async () => {
          const { 'identity.next': identity, 'identity.next.pub': publicKey, ...rest } = rotated;
          const expected = { ...rest, identity, 'identity.pub': publicKey };
          expect(await dataIn('garden')).toEqual(expected);
          expect(await dataIn('shoot')).toEqual(expected);
        }),
    },
    'Flux released': {
      change: () => stage.setFluxConfig(config('other', 'Once')),
      expect: async () => {
        await untilManaged(['shoot-flux-secrets']);
        expect(await identitiesIn(stage)).toEqual(inShoot);
      },
    },
    'Flux managed again': {
      change: () => stage.setFluxConfig(config('other')),
      expect: async () => {
        await untilManaged(all);
        await stage.untilReady(waiting.seconds);
        expect(await identitiesIn(stage)).toEqual(inShoot);
      },
    },
    hibernate: {
      async change() {
        await stage.untilReady(waiting.seconds);
        // It writes the state of what it has applied last.
        await stage.stopResourceManager();
        beforeSleep = await versions();
        access = await stage.seed.find(resources.secrets, kubeconfigName);
        await stage.seed.delete(resources.secrets, kubeconfigName);
        await stage.reconcileShoot(asleep);
        // A moment earlier it would still reach the ManagedResources.
        await stage.setFluxConfig(config('while-asleep'));
      },
      async expect() {
        await stage.untilReady(waiting.seconds);
        expect(await versions()).toEqual(beforeSleep);
      },
    },
    wake: {
      async change() {
        await stage.startResourceManager();
        const secret = { ...(access as KubeObject), metadata: kubeconfigName };
        await stage.seed.create(resources.secrets, secret, { fieldManager });
        await stage.reconcileShoot();
      },
      async expect() {
        await stage.untilReady(waiting.seconds);
        await untilBranch('while-asleep');
      },
    },
    migrate: {
      async change() {
        inShoot = await identitiesIn(stage);
        await ask('migrate');
      },
      async expect() {
        await until(waiting, 'the control plane has migrated', async () => {
          const live = await stage.extension();
          expect(live.status?.lastOperation).toMatchObject({ type: 'Migrate', state: 'Succeeded' });
          expect(live.metadata.finalizers ?? []).toEqual([]);
          expect(live.metadata.annotations ?? {}).not.toHaveProperty(['gardener.cloud/operation']);
        });
        expect(await stage.managedResources()).toEqual({});
        expect(await identitiesIn(stage)).toEqual(inShoot);
        record = await stage.extension();
        await stage.deleteExtension();
        await untilGone(stage, waiting.seconds);
      },
    },
    restore: {
      async change() {
        const annotations = { 'gardener.cloud/operation': 'wait-for-state' };
        const metadata = { ...extensionName, annotations };
        const object = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', metadata };
        await stage.seed.create(resources.extensions, { ...object, spec: { type: 'shoot-flux' } }, { fieldManager });
        const { state, resources: listed } = record?.status ?? {};
        const status = { status: { state, resources: listed } };
        await stage.seed.mergePatch(resources.extensions, extensionName, status, {
          fieldManager,
          subresource: 'status',
        });
        await ask('restore');
      },
      async expect() {
        const { status } = await stage.untilReady(waiting.seconds);
        expect(status?.lastOperation).toMatchObject({ type: 'Restore', state: 'Succeeded' });
        expect(status?.state?.bootstrapped).toEqual(record?.status?.state?.bootstrapped);
        await untilManaged(all);
        expect(await identitiesIn(stage)).toEqual(inShoot);
        expect(await dataIn('shoot')).toEqual(await dataIn('garden'));
      },
    },
    remove: {
      async change() {
        for (const [resource, object] of workload) await stage.shoot.create(resource, object, { fieldManager });
        await stage.deleteExtension();
      },
      async expect() {
        await untilGone(stage, waiting.seconds);
        await expectRemoved(stage);
        expect(await stage.garden.find(resources.configMaps, configName)).toBeDefined();
        expect(await stage.garden.find(resources.secrets, sourceName)).toBeDefined();
      },
    },
  };
}

async function untilBootstrapped(stage: Stage, waiting: Waiting): Promise<void> {
  await until(waiting, 'the first success', async () => {
    const { status } = await stage.extension();
    expect(status?.state?.bootstrapped).toBeDefined();
    const ready = (status?.conditions ?? []).filter((condition) => condition.status === 'True').map(({ type }) => type);
    expect(ready).toEqual(expect.arrayContaining(['SourceReady', 'KustomizationReady']));
  });
}

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();

export interface Waiting {
  stage: Stage;
  /** Longest wait for one effect. */
  seconds: number;
}

const inDefault = (name: string) => ({ namespace: 'default', name });

/** What Flux has deployed: a workload, and the Kustomization that would prune it if it were deleted unsuspended. */
export const workload: [Resource, KubeObject][] = [
  [
    kustomizations,
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { ...inDefault('nested'), finalizers: ['finalizers.fluxcd.io'] },
      spec: {
        interval: '5m',
        path: './',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo', namespace: 'flux-system' },
      },
    },
  ],
  [
    resources.configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('workload'), data: { a: 'b' } } as KubeObject,
  ],
];

/** Waits until the expectations hold; the error is the last one's. */
export async function until({ seconds }: Waiting, what: string, expectations: () => Promise<void>): Promise<void> {
  await eventually(
    what,
    () =>
      expectations().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    (failure) => failure === undefined,
    undefined,
    seconds,
  );
}

/** Waits until the Extension of a stage is deleted. */
export async function untilGone(stage: Stage, seconds?: number): Promise<void> {
  await eventually(
    'the Extension is gone',
    () => stage.seed.find(resources.extensions, { namespace: CONTROL_PLANE, name: 'shoot-flux' }),
    (live) => live === undefined,
    (live) => live?.status,
    seconds,
  );
}

/** Returns the uids of objects that must survive a migration. */
export async function identitiesIn({ shoot }: Stage): Promise<Record<string, string | undefined>> {
  const names: [Resource, { name: string; namespace?: string }][] = [
    [resources.namespaces, { name: 'flux-system' }],
    [resources.customResourceDefinitions, crdOf(kustomizations)],
    [resources.deployments, inFlux('source-controller')],
    [resources.secrets, inFlux('flux-source')],
    [gitRepositories, inFlux('main-gitrepo')],
    [kustomizations, inFlux('main-ks')],
  ];
  const found = await Promise.all(names.map(([resource, name]) => shoot.find(resource, name)));
  return Object.fromEntries(names.map(([{ kind }, { name }], index) => [`${kind} ${name}`, uidOf(found[index])]));
}

function uidOf(object: KubeObject | undefined): string | undefined {
  expect(object?.metadata).not.toHaveProperty('deletionTimestamp');
  return object?.metadata.uid;
}

/** Expects that Flux has been removed from the shoot with everything of ours, and nothing that it had deployed. */
export async function expectRemoved({ seed, shoot, managedResources }: Stage): Promise<void> {
  expect(await managedResources()).toEqual({});
  const ours = await seed.list(resources.secrets, { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' });
  expect(ours.items.map(({ metadata }) => metadata.name)).toEqual([]);
  for (const resource of [kustomizations, gitRepositories]) {
    expect(await shoot.find(resources.customResourceDefinitions, crdOf(resource))).toBeUndefined();
  }
  for (const name of ['source-controller', 'kustomize-controller']) {
    expect(await shoot.find(resources.deployments, inFlux(name))).toBeUndefined();
  }
  const left = await shoot.find(resources.configMaps, inDefault('workload'));
  expect(left?.data).toEqual({ a: 'b' });
  expect(left?.metadata).not.toHaveProperty('deletionTimestamp');
}

const crdOf = ({ plural, group }: Resource) => ({ name: `${plural}.${group}` });
