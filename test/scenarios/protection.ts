import { describe, expect, it } from 'vitest';
import { builtInKinds } from '../../functions/managed-resources/shoot/objects.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { type Apis, eventually, inFlux, isProtected, providerConfig, type Stage } from './stage.ts';

/** The protection of installed objects from the user's Kustomizations, on embedded or real API servers. */
export function protectionSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const untilUnprotected = () =>
      eventually(
        'nothing is protected',
        () => installed(stage),
        isUnprotected,
        (found) => found.filter(isProtected),
      );
    const isManaged = async () => (await stage.extension()).status?.state?.applied?.protected;

    it('protects everything that is installed, and no longer once the mode releases it', async () => {
      await stage.deliver({ providerConfig: config('Reconcile') });
      const before = await installed(stage);
      expect(before.length).toBeGreaterThan(10);
      expect(before.filter((object) => !isProtected(object))).toEqual([]);
      await stage.bootstrap();
      await stage.reconcileShoot({ providerConfig: config('ManifestsOnly') });
      const after = await untilUnprotected();
      expect(namesOf(after)).toEqual(namesOf(before));
      await eventually('the record', isManaged, (answer) => answer === undefined);
    });

    it('leaves none on a claim that stays without storage', async () => {
      await stage.deliver({ providerConfig: { ...config('Reconcile'), flux: { storage: { size: '1Gi' } } } });
      await stage.deliver({ providerConfig: config('Reconcile') });
      await stage.bootstrap();
      await stage.reconcileShoot({ providerConfig: config('ManifestsOnly') });
      const after = await untilUnprotected();
      expect(after.map(({ kind }) => kind)).toContain('PersistentVolumeClaim');
    });

    it('leaves the Pods as they are when the protection comes and goes', async () => {
      await stage.deliver({ providerConfig: config('Once') });
      const templates = async () =>
        (await installed(stage))
          .filter(({ kind }) => kind === 'Deployment')
          .map(({ metadata, spec }) => [metadata.name, (spec as { template: unknown }).template]);
      const before = await templates();
      await stage.bootstrap();
      await untilUnprotected();
      expect(await templates()).toEqual(before);
      await stage.reconcileShoot({ providerConfig: config('Reconcile') });
      await eventually(
        'protected again',
        () => installed(stage),
        (found) => found.every(isProtected),
      );
      await stage.untilReady();
      expect(await templates()).toEqual(before);
    });

    it('leaves no protection behind when the extension is removed and Flux stays', async () => {
      await stage.deliver({ providerConfig: { ...config('Reconcile'), deletionPolicy: 'Orphan' } });
      await stage.leave();
      expect((await installed(stage)).filter(isProtected)).toEqual([]);
    });

    it('leaves none on a namespace that outlives Flux, because it holds an object of a user', async () => {
      await stage.deliver({ providerConfig: { ...config('Reconcile'), deletionPolicy: 'Uninstall' } });
      const ofUser = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inFlux('of-the-user') };
      await stage.shoot.apply(resources.configMaps, ofUser, { fieldManager: 'user' });
      await stage.leave();
      const namespace = await stage.shoot.find(resources.namespaces, { name: 'flux-system' });
      expect(namespace && [namespace].filter(isProtected)).toEqual([]);
    });
  });
}

const config = (syncMode: string) => providerConfig({ syncMode });

/** The objects of Flux itself, which have its label. */
async function installed(stage: Stage): Promise<KubeObject[]> {
  const kinds = Object.values(builtInKinds).filter(({ kind }) => kind !== 'Secret' && kind !== 'ConfigMap');
  const lists = await Promise.all(
    kinds.map((kind) => stage.shoot.list(kind, { labelSelector: 'app.kubernetes.io/part-of=flux' })),
  );
  return lists.flatMap(({ items }, index) => items.map((item) => ({ ...item, kind: kinds[index]?.kind ?? '' })));
}

const isUnprotected = (objects: KubeObject[]) => objects.length > 0 && !objects.some(isProtected);
const namesOf = (objects: KubeObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
