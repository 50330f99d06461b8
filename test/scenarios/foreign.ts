import { describe, expect, it } from 'vitest';
import { builtInKinds, objectRef, parseRef } from '../../functions/managed-resources/shoot/objects.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { installObjects, protection } from '../../shared/flux/install.ts';
import { fluxInstall } from '../../shared/flux/testing.ts';
import { type KubeObject, type ObjectMeta, resources } from '../../shared/kube/resource.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { aroundEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, type Stage, untilLogged } from './stage.ts';

/** The marks of each tool on what it installs, and its field manager. */
export const tools: Record<
  string,
  { manager: string; marks: Pick<ObjectMeta, 'labels' | 'annotations'>; says: RegExp }
> = {
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
};

/** Shoots whose Flux others have installed, on embedded or real API servers. */
export function foreignSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const installBy = (manager: string, marks: Pick<ObjectMeta, 'labels' | 'annotations'>) =>
      installFlux(stage, fluxDistribution, manager, marks);
    const liveOf = (objects: KubeObject[]) =>
      Promise.all(objects.map((object) => stage.shoot.find(kindOf(object), object.metadata)));
    const versionsOf = (live: (KubeObject | undefined)[]) => live.map((object) => object?.metadata.resourceVersion);
    const condition = async () =>
      (await stage.extension()).status?.conditions?.find(({ type }) => type === 'ConfigurationFollowed');
    const events = async () => {
      const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
      return items.filter(({ reason }) => reason === 'ForeignFlux');
    };

    it.each(Object.entries(tools))('leaves a Flux of %s alone, and says so', async (_, { manager, marks, says }) => {
      const objects = await installBy(manager, marks);
      const before = versionsOf(await liveOf(objects));
      await stage.reconcileShoot({ providerConfig: config({}) });
      const { status } = await stage.untilReady();
      expect(status?.lastOperation?.description).toMatch(says);
      const published = await eventually('the condition', condition, (found) => found !== undefined);
      expect(published).toMatchObject({ status: 'False', reason: 'ForeignFlux', message: expect.stringMatching(says) });
      expect(published?.message).toMatch(/set adopt to true/);
      await quiet(stage);
      expect(await stage.managedResources()).toEqual({});
      expect(versionsOf(await liveOf(objects))).toEqual(before);
      const reported = await events();
      expect(reported).toHaveLength(1);
      expect(reported[0]).toMatchObject({
        message: published?.message,
        involvedObject: { kind: 'Shoot', name: 'bar' },
      });
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      await quiet(stage);
      expect(await events()).toHaveLength(1);
    });

    it.each(['flux bootstrap', 'Helm', 'flux-operator'])('takes a Flux of %s over with adopt', async (tool) => {
      const { manager, marks } = tools[tool] ?? { manager: '', marks: {} };
      const objects = await installBy(manager, marks);
      const before = await liveOf(objects);
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      await stage.reconcileShoot({ providerConfig: config({ adopt: true }) });
      await eventually(
        'Flux is ours',
        stage.extension,
        ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied !== undefined,
        ({ status }) => status,
      );
      await stage.untilReady();
      const after = await liveOf(objects);
      expect(after.map((object) => object?.metadata.uid)).toEqual(before.map((object) => object?.metadata.uid));
      for (const object of after) {
        expect(object?.metadata.annotations, object && objectRef(object)).toMatchObject(protection);
        expect(Object.keys(object?.metadata.annotations ?? {})).not.toContain('meta.helm.sh/release-name');
        for (const label of Object.keys(marks.labels ?? {}))
          expect(object?.metadata.labels ?? {}).not.toHaveProperty([label]);
        expect(object?.metadata.managedFields?.map((entry) => entry.manager)).not.toContain(manager);
      }
      const specs = (list: (KubeObject | undefined)[]) =>
        list
          .filter((object) => object?.kind === 'Deployment')
          .map((object) => fieldsAt(object?.spec, 'template', 'spec'));
      expect(specs(after)).toEqual(specs(before));
      expect((await stage.extension()).status?.state).not.toHaveProperty('foreign');
      await eventually('no condition', condition, (found) => found === undefined);
      await stage.reconcileShoot({ providerConfig: config({ deletionPolicy: 'Orphan' }) });
      await stage.untilReady();
      await stage.deleteExtension();
      await eventually(
        'the Extension is gone',
        () => stage.extension().catch(() => undefined),
        (live) => live === undefined,
      );
      const left = await liveOf(objects);
      expect(left.map((object) => object?.metadata.uid)).toEqual(before.map((object) => object?.metadata.uid));
      expect(JSON.stringify(left.map((object) => object?.metadata.annotations))).not.toContain(
        'kustomize.toolkit.fluxcd.io/ssa',
      );
    });

    it('adopts a Flux without such a mark, as flux install and the former extensions leave it', async () => {
      const objects = await installBy('flux', {});
      await stage.reconcileShoot({ providerConfig: config({}) });
      await stage.untilReady();
      expect(Object.keys(await stage.managedResources())).toContain('shoot-flux-controllers');
      expect(await events()).toEqual([]);
      for (const object of await liveOf(objects)) {
        if (object?.kind === 'Deployment') expect(object.metadata.annotations).toMatchObject(protection);
      }
    });

    it('leaves a Flux alone that was released and bootstrapped by the user since', async () => {
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Once' }) });
      const { manager, marks } = tools['flux bootstrap'] ?? { manager: '', marks: {} };
      await eventually('bootstrapped', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
      await eventually(
        'released',
        stage.managedResources,
        (live) => live['shoot-flux-controllers'] === undefined,
        (live) => Object.keys(live),
      );
      const objects = await installBy(manager, marks);
      await stage.reconcileShoot({ providerConfig: config({ syncMode: 'Reconcile' }) });
      await stage.untilReady();
      expect(Object.keys(await stage.managedResources())).not.toContain('shoot-flux-controllers');
      await eventually('the condition', condition, (found) => found?.message.includes('flux bootstrap') === true);
      const [crd] = (await liveOf(objects)).filter((object) => object?.kind === 'CustomResourceDefinition');
      expect(crd?.metadata.labels).toMatchObject(marks.labels ?? {});
    });

    it('an uninstallation removes no Flux that the user has bootstrapped since ours was released', async () => {
      const follow = async (syncMode: string) => {
        await stage.reconcileShoot({ providerConfig: config({ syncMode, deletionPolicy: 'Uninstall' }) });
        await stage.untilReady();
        await quiet(stage);
      };
      await follow('Reconcile');
      await eventually('bootstrapped', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
      await follow('Once');
      const { manager, marks } = tools['flux bootstrap'] ?? { manager: '', marks: {} };
      const objects = await installBy(manager, marks);
      const before = await liveOf(objects);
      // The sentence on the Shoot says that the extension may be removed.
      await follow('Reconcile');
      await stage.deleteExtension();
      const extension = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
      await eventually(
        'the extension is gone',
        () => stage.seed.find(resources.extensions, extension),
        (found) => found === undefined,
      );
      const left = await liveOf(objects);
      expect(left.map((object) => object?.metadata.uid)).toEqual(before.map((object) => object?.metadata.uid));
      expect(left.filter((object) => object?.metadata.deletionTimestamp !== undefined)).toEqual([]);
      for (const annotation of Object.keys(protection)) {
        expect(left.filter((object) => object?.metadata.annotations?.[annotation] !== undefined)).toEqual([]);
      }
      await untilLogged(stage, 'flux-system/flux-system, as flux bootstrap creates it, so it stays in the shoot.');
    });
  });
}

function config(parts: Record<string, unknown>): Record<string, unknown> {
  return { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Reconcile', ...parts };
}

/** Installs Flux as a tool does; returns what it has installed. */
export async function installFlux(
  { shoot }: Stage,
  folder: string,
  manager: string,
  marks: Pick<ObjectMeta, 'labels' | 'annotations'>,
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
  return objects;
}

function kindOf(object: KubeObject) {
  const kind = builtInKinds[parseRef(objectRef(object)).type];
  if (kind === undefined) throw new Error(`no kind ${object.kind}`);
  return kind;
}
