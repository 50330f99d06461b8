import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect } from 'vitest';
import type { Extension } from '../../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { crdOf, deployedByFlux, expectFluxIsGone } from '../../scenarios/removal.ts';
import {
  asleep,
  CONTROL_PLANE,
  creating,
  eventually,
  inControlPlane,
  inFlux,
  inProject,
  isMigrated,
  privateRepository,
  type Stage,
} from '../../scenarios/stage.ts';

/** One step: what a user or gardenlet does, and what must follow. */
interface Step {
  change(): Promise<unknown>;
  expect(): Promise<unknown>;
}

const fieldManager = 'life';
const configName = inProject('flux-config');
const kubeconfigName = inControlPlane('gardener');
const all = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];
const config = (repositoryBranch: string, syncMode = 'Reconcile') => ({
  ...{ ...privateRepository, repositoryBranch, syncMode },
});

/**
 * Leads one Shoot through its life: create, config change, key rotation, hibernate, wake, migrate, remove. The product
 * runs already, anywhere; it serves garden and seed of the stage. Rejects at the first step whose end state is wrong.
 * @param disturb called after each change, before its effect is awaited, with the name of the step: to kill a process
 * @returns the names of the steps
 */
export async function liveOneLife(stage: Stage, disturb?: (step: string) => Promise<void>): Promise<string[]> {
  const steps = stepsOf(stage);
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

function stepsOf(stage: Stage): Record<string, Step> {
  let beforeSleep: Record<string, string | undefined> = {};
  let access: KubeObject | undefined;
  let rotated: Record<string, string> = {};
  let record = {} as Extension;
  let inShoot: Record<string, string | undefined> = {};

  const dataIn = async (place: 'garden' | 'shoot') => {
    const name = place === 'garden' ? inProject('flux-source') : inFlux('flux-source');
    return ((await stage[place].find(resources.secrets, name))?.data ?? {}) as Record<string, string>;
  };
  const versions = async () =>
    Object.fromEntries(
      Object.entries(await stage.managedResources()).map(([name, { metadata }]) => [name, metadata.resourceVersion]),
    );
  const rotate = (phase: 'start' | 'complete') =>
    stage.annotateFluxConfig({ 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` });
  const expectSameInShoot = async () => expect(await identitiesIn(stage)).toEqual(inShoot);

  return {
    create: {
      async change() {
        await stage.setFluxConfig(config('main'));
        await stage.reconcileShoot({ status: { lastOperation: creating } });
      },
      async expect() {
        const { metadata, status } = await stage.untilReady();
        expect(metadata.finalizers).toEqual(['extensions.gardener.cloud/shoot-flux']);
        expect(status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded' });
        await stage.untilManagedResources(...all);
        await stage.untilBranch('main');
        expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
        const key = await dataIn('garden');
        expect(Object.keys(key).sort()).toEqual(['identity', 'identity.pub', 'known_hosts']);
        expect(await dataIn('shoot')).toEqual(key);
        const publicKey = Buffer.from(key['identity.pub'] ?? '', 'base64').toString();
        await stage.untilEvent('DeployKey', publicKey.trim());
        await stage.bootstrap();
        await stage.until('the conditions', ({ conditions = [] }) =>
          ['SourceReady', 'KustomizationReady'].every((wanted) =>
            conditions.some(({ type, status }) => type === wanted && status === 'True'),
          ),
        );
        inShoot = await identitiesIn(stage);
      },
    },
    'config change': {
      change: () => stage.setFluxConfig(config('other')),
      expect: () => stage.untilBranch('other'),
    },
    'key rotation prepared': {
      change: () => rotate('start'),
      async expect() {
        rotated = await eventually(
          'the next key',
          () => dataIn('garden'),
          (data) => 'identity.next' in data,
        );
        await eventually(
          'the operation has ended',
          () => stage.garden.find(resources.configMaps, configName),
          (live) => live?.metadata.annotations?.['gardener.cloud/operation'] === undefined,
        );
      },
    },
    'key rotation completed': {
      change: () => rotate('complete'),
      async expect() {
        const { 'identity.next': identity, 'identity.next.pub': publicKey, ...rest } = rotated;
        const expected = { ...rest, identity, 'identity.pub': publicKey };
        await eventually(
          'the new key in the shoot',
          () => dataIn('shoot'),
          (data) => data.identity === identity,
        );
        expect(await dataIn('garden')).toEqual(expected);
        expect(await dataIn('shoot')).toEqual(expected);
      },
    },
    'Flux released': {
      change: () => stage.setFluxConfig(config('other', 'Once')),
      async expect() {
        await stage.untilManagedResources('shoot-flux-secrets');
        await expectSameInShoot();
      },
    },
    'Flux managed again': {
      change: () => stage.setFluxConfig(config('other')),
      async expect() {
        await stage.untilManagedResources(...all);
        await stage.untilReady();
        await expectSameInShoot();
      },
    },
    hibernate: {
      async change() {
        await stage.untilReady();
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
        await stage.untilReady();
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
        await stage.untilReady();
        await stage.untilBranch('while-asleep');
      },
    },
    migrate: {
      async change() {
        inShoot = await identitiesIn(stage);
        await stage.operate('migrate');
      },
      async expect() {
        const isOver = (live: Extension) => isMigrated(live) && (live.metadata.finalizers ?? []).length === 0;
        record = await eventually('the control plane has migrated', stage.extension, isOver);
        expect(await stage.managedResources()).toEqual({});
        await expectSameInShoot();
        await stage.leave();
      },
    },
    restore: {
      async change() {
        await stage.createWaiting();
        await stage.restore(record);
      },
      async expect() {
        const { status } = await stage.untilReady();
        expect(status?.lastOperation).toMatchObject({ type: 'Restore', state: 'Succeeded' });
        expect(status?.state?.bootstrapped).toEqual(record.status?.state?.bootstrapped);
        await stage.untilManagedResources(...all);
        await expectSameInShoot();
        expect(await dataIn('shoot')).toEqual(await dataIn('garden'));
      },
    },
    remove: {
      async change() {
        for (const [resource, object] of deployedByFlux) await stage.shoot.create(resource, object, { fieldManager });
        await stage.deleteExtension();
      },
      async expect() {
        await stage.untilGone();
        expect(await stage.managedResources()).toEqual({});
        const ours = { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' };
        const { items } = await stage.seed.list(resources.secrets, ours);
        expect(items.map(({ metadata }) => metadata.name)).toEqual([]);
        await expectFluxIsGone(stage);
        expect(await stage.garden.find(resources.configMaps, configName)).toBeDefined();
        expect(await stage.garden.find(resources.secrets, inProject('flux-source'))).toBeDefined();
      },
    },
  };
}

/** Returns the uids of objects that must survive a migration. */
async function identitiesIn({ shoot }: Stage): Promise<Record<string, string | undefined>> {
  const names: [Resource, { name: string; namespace?: string }][] = [
    [resources.namespaces, { name: 'flux-system' }],
    [resources.customResourceDefinitions, crdOf(kustomizations)],
    [resources.deployments, inFlux('source-controller')],
    [resources.secrets, inFlux('flux-source')],
    [gitRepositories, inFlux('main-gitrepo')],
    [kustomizations, inFlux('main-ks')],
  ];
  const found = await Promise.all(names.map(([resource, name]) => shoot.find(resource, name)));
  expect(found.filter((object) => object?.metadata.deletionTimestamp !== undefined)).toEqual([]);
  return Object.fromEntries(
    names.map(([{ kind }, { name }], index) => [`${kind} ${name}`, found[index]?.metadata.uid]),
  );
}
