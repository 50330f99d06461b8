import { expect, it } from 'vitest';
import { builtInKinds, objectRef, parseRef } from '../../functions/managed-resources/shoot/objects.ts';
import { isCrd } from '../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { installObjects, protection } from '../../shared/flux/install.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import type { KubeObject, ObjectMeta } from '../../shared/kube/resource.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { isEstablished } from '../established.ts';
import { stageSuite } from './around-each-test.ts';
import { core, eventually, isProtected, onlyFlux, type Stage, untilLogged } from './stage.ts';

export type Marks = Pick<ObjectMeta, 'labels' | 'annotations'>;

/** The marks of each tool on what it installs, and its field manager. */
export const tools = {
  'flux bootstrap': {
    manager: 'kustomize-controller',
    marks: {
      labels: {
        'kustomize.toolkit.fluxcd.io/name': 'flux-system',
        'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
      },
    },
    says: /managed by Kustomization flux-system\/flux-system, as flux bootstrap creates it/,
  },
  Helm: {
    manager: 'helm',
    marks: {
      labels: { 'app.kubernetes.io/managed-by': 'Helm' },
      annotations: { 'meta.helm.sh/release-name': 'flux', 'meta.helm.sh/release-namespace': 'flux-system' },
    },
    says: /managed by Helm release "flux"/,
  },
  'flux-operator': {
    manager: 'flux-operator',
    marks: {
      labels: {
        'app.kubernetes.io/managed-by': 'flux-operator',
        'fluxcd.controlplane.io/name': 'flux',
        'fluxcd.controlplane.io/namespace': 'flux-system',
      },
    },
    says: /managed by FluxInstance flux-system\/flux of flux-operator/,
  },
} satisfies Record<string, { manager: string; marks: Marks; says: RegExp }>;

/** Shoots whose Flux others have installed, on embedded or real API servers. */
export const foreignSuite = stageSuite((stage, fluxDistribution) => {
  const installBy = (manager: string, marks: Marks) => installFlux(stage, fluxDistribution, manager, marks);
  const liveOf = (objects: KubeObject[]) =>
    Promise.all(objects.map((object) => stage.shoot.find(kindOf(object), object.metadata)));
  const versionsOf = (live: (KubeObject | undefined)[]) => live.map((object) => object?.metadata.resourceVersion);
  const uidsOf = (live: (KubeObject | undefined)[]) => live.map((object) => object?.metadata.uid);
  const events = () => stage.events('ForeignFlux');

  it.each<[string, { manager: string; marks: Marks; says: RegExp }]>(Object.entries(tools))(
    'leaves a Flux of %s alone, says so, and takes it over with adopt',
    async (_, { manager, marks, says }) => {
      const objects = await installBy(manager, marks);
      const before = await liveOf(objects);
      const { status } = await stage.deliver({ providerConfig: config() });
      expect(status?.lastOperation?.description).toMatch(says);
      const published = await stage.untilCondition('ConfigurationFollowed');
      expect(published).toMatchObject({ status: 'False', reason: 'ForeignFlux' });
      expect(published.message).toMatch(says);
      expect(published.message).toMatch(/set adopt to true/);
      await stage.quiet();
      expect(await stage.managedResources()).toEqual({});
      expect(versionsOf(await liveOf(objects))).toEqual(versionsOf(before));
      const involvedObject = { kind: 'Shoot', name: 'bar' };
      const reported = [{ message: published.message, involvedObject }];
      expect(await events()).toMatchObject(reported);
      await stage.deliver({ providerConfig: config() });
      await stage.quiet();
      expect(await events()).toMatchObject(reported);

      await stage.reconcileShoot({ providerConfig: config({ adopt: true }) });
      await stage.until(
        'Flux is ours',
        ({ lastOperation, state }) => lastOperation?.state === 'Succeeded' && state?.applied !== undefined,
      );
      await stage.untilReady();
      const after = await liveOf(objects);
      expect(uidsOf(after)).toEqual(uidsOf(before));
      for (const object of after) {
        const { annotations = {}, labels = {}, managedFields } = object?.metadata ?? {};
        expect(annotations, object && objectRef(object)).toMatchObject(protection);
        expect(Object.keys(annotations)).not.toContain('meta.helm.sh/release-name');
        for (const label of Object.keys(marks.labels ?? {})) expect(labels).not.toHaveProperty([label]);
        expect(managedFields?.map((entry) => entry.manager)).not.toContain(manager);
      }
      const specs = (list: (KubeObject | undefined)[]) =>
        list
          .filter((object) => object?.kind === 'Deployment')
          .map((object) => fieldsAt(object?.spec, 'template', 'spec'));
      expect(specs(after)).toEqual(specs(before));
      expect((await stage.extension()).status?.state).not.toHaveProperty('foreign');
      await stage.until(
        'no condition',
        ({ conditions }) => conditions?.some(({ type }) => type === 'ConfigurationFollowed') !== true,
      );
      await stage.deliver({ providerConfig: config({ deletionPolicy: 'Orphan' }) });
      await stage.leave();
      const left = await liveOf(objects);
      expect(uidsOf(left)).toEqual(uidsOf(before));
      expect(JSON.stringify(left.map((object) => object?.metadata.annotations))).not.toContain(
        'kustomize.toolkit.fluxcd.io/ssa',
      );
    },
  );

  it('takes over the Flux of the Shoots that an override selects, and leaves the others alone', async () => {
    const { manager, marks } = tools['flux bootstrap'];
    await installBy(manager, marks);
    const override = { selector: { matchLabels: { stage: 'dev' } }, config: { adopt: true } };
    await stage.setFluxConfig({ syncMode: 'Reconcile', 'overrides.yaml': JSON.stringify([override]) });
    await stage.deliver({ metadata: { labels: { stage: 'prod' } } });
    expect(await stage.untilCondition('ConfigurationFollowed')).toMatchObject({ reason: 'ForeignFlux' });
    await stage.quiet();
    expect(await stage.managedResources()).toEqual({});
    await stage.reconcileShoot({ metadata: { labels: { stage: 'dev' } } });
    await eventually('our Flux', stage.managedResources, (live) => 'shoot-flux-controllers' in live);
    await stage.until('no obstacle', ({ state }) => state?.applied !== undefined && state.foreign === undefined);
  });

  it('adopts a Flux without such a mark, as flux install and the former extensions leave it', async () => {
    const objects = await installBy('flux', {});
    await stage.deliver({ providerConfig: config() });
    expect(Object.keys(await stage.managedResources())).toContain('shoot-flux-controllers');
    expect(await events()).toEqual([]);
    for (const object of await liveOf(objects)) {
      if (object?.kind === 'Deployment') expect(object.metadata.annotations).toMatchObject(protection);
    }
  });

  const parts = (syncMode: string, flux: Record<string, unknown> = { components: core }) => ({
    providerConfig: config({ syncMode, deletionPolicy: 'Uninstall', flux }),
  });
  const untilReleased = () => stage.untilManagedResources('shoot-flux-secrets');
  /** The resource-manager does nothing until it is started again. */
  const releaseSlowly = async () => {
    await stage.stopResourceManager();
    await stage.deliver(parts('Once'));
  };
  const areDeleted = async () => {
    const live = await stage.managedResources();
    const isDeleted = (name: string) => live[name]?.metadata.deletionTimestamp !== undefined;
    return ['shoot-flux-crds', 'shoot-flux-controllers'].map(isDeleted);
  };

  it.each<[string, () => Promise<void>]>([
    [
      'since ours was released',
      async () => {
        await stage.deliver(parts('Once'));
        await untilReleased();
        await stage.stopResourceManager();
      },
    ],
    [
      'while ours is being released',
      async () => {
        await releaseSlowly();
        expect(await areDeleted()).toEqual([true, true]);
      },
    ],
    [
      'while ours is being released, after the mode follows again',
      async () => {
        await releaseSlowly();
        await stage.reconcileShoot(parts('Reconcile'));
        await stage.until('a plan', ({ state }) => state?.applied?.syncMode === 'Reconcile');
        expect(await areDeleted()).toEqual([true, true]);
      },
    ],
    [
      'while ours has to be applied before it is released',
      async () => {
        await stage.stopResourceManager();
        const labels = { 'not-applied-yet': 'true' };
        const flux = { components: [...core, 'helm-controller'], commonMetadata: { labels } };
        await stage.reconcileShoot(parts('Reconcile', flux));
        await stage.until('more components', ({ state }) => state?.applied?.components.length === core.length + 1);
        await stage.deliver(parts('Once'));
        expect(await areDeleted()).toEqual([false, false]);
      },
    ],
  ])('leaves a Flux alone that the user has bootstrapped %s, also in an uninstallation', async (_when, release) => {
    await stage.deliver(parts('Reconcile'));
    await stage.quiet();
    await stage.bootstrap();
    await release();
    const { manager, marks } = tools['flux bootstrap'];
    const objects = await installBy(manager, marks);
    const before = await liveOf(objects);
    await stage.deliver(parts('Reconcile'));
    await stage.startResourceManager();
    await untilReleased();
    const protectedOf = async () => (await liveOf(objects)).filter((object) => object && isProtected(object));
    await eventually('no protection', protectedOf, (found) => found.length === 0);
    await stage.untilCondition('ConfigurationFollowed', 'flux bootstrap');
    await stage.quiet();
    expect(Object.keys(await stage.managedResources())).toEqual(['shoot-flux-secrets']);
    const [crd] = (await liveOf(objects)).filter((object) => object?.kind === 'CustomResourceDefinition');
    expect(crd?.metadata.labels).toMatchObject(marks.labels);
    expect(JSON.stringify(await liveOf(objects))).not.toContain('not-applied-yet');
    // The sentence on the Shoot says that the extension may be removed.
    await stage.leave();
    const left = await liveOf(objects);
    expect(uidsOf(left)).toEqual(uidsOf(before));
    expect(left.filter((object) => object?.metadata.deletionTimestamp !== undefined)).toEqual([]);
    expect(await protectedOf()).toEqual([]);
    await untilLogged(stage, 'flux-system/flux-system, as flux bootstrap creates it, so it stays in the shoot.');
  });

  it('remembers on another seed what else it has brought into a Shoot whose Flux it leaves alone', async () => {
    await stage.deliver(parts('Reconcile'));
    await stage.quiet();
    await stage.bootstrap();
    await stage.deliver(parts('Once'));
    await untilReleased();
    const { manager, marks } = tools['flux bootstrap'];
    await installBy(manager, marks);
    await stage.deliver(parts('Reconcile'));
    const moved = await stage.moveAway();
    await stage.createWaiting(parts('Reconcile').providerConfig);
    await stage.restore(moved);
    const { status } = await stage.untilReady();
    expect(status?.lastOperation).toMatchObject({ type: 'Restore', state: 'Succeeded' });
    expect(Object.keys(status?.state?.applied?.managedResources ?? {})).toEqual(['shoot-flux-secrets']);
  });
});

const config = (parts: Record<string, unknown> = {}) => onlyFlux({ syncMode: 'Reconcile', ...parts });

/** Installs Flux as a tool does; returns what it has installed. */
export async function installFlux(
  { shoot }: Stage,
  folder: string,
  manager: string,
  marks: Marks,
): Promise<KubeObject[]> {
  const distribution = openDistribution(folder);
  const [version = ''] = await distribution.versions();
  const objects = installObjects(await distribution.release(version), fluxInstall());
  for (const object of objects) {
    const labels = { ...object.metadata.labels, ...marks.labels };
    const annotations = { ...object.metadata.annotations, ...marks.annotations };
    const metadata = { ...object.metadata, labels, annotations };
    await shoot.apply(kindOf(object), { ...object, metadata }, { fieldManager: manager });
  }
  const notEstablished = async () => {
    const crds = await Promise.all(objects.filter(isCrd).map((crd) => shoot.find(kindOf(crd), crd.metadata)));
    return crds.filter((crd) => !isEstablished(crd)).map((crd) => crd?.metadata.name);
  };
  await eventually('established CRDs', notEstablished, (names) => names.length === 0);
  return objects;
}

function kindOf(object: KubeObject) {
  const kind = builtInKinds[parseRef(objectRef(object)).type];
  if (kind === undefined) throw new Error(`no kind ${object.kind}`);
  return kind;
}
