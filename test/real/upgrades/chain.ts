import semver from 'semver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDistribution } from '../../../shared/flux/distribution.ts';
import { compareVersions } from '../../../shared/flux/versions.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { numericSeed } from '../../scenarios/sampling.ts';
import { type Stage, startStage } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import { askForFlux, untilInstalledIn } from './asking.ts';
import { watchDeletions } from './deletions.ts';
import { type Killable, killable } from './killable.ts';
import { crdsOf, everything, fill, notCurrent } from './stored-objects.ts';

const core = ['source', 'kustomize', 'helm', 'notification', 'image-reflector', 'image-automation'];

/** The components with kinds of their own. */
function componentsOf(version: string): string {
  const all = core.map((name) => `${name}-controller`);
  return [...all, ...((semver.parse(version)?.minor ?? 0) >= 7 ? ['source-watcher'] : [])].join(',');
}

/**
 * Upgrades of the whole product in a shoot that holds an object of each kind stored in each version, with the product
 * killed at requests that the seed of the run chooses.
 */
export function upgradeChainSuite(realApis: () => RealApis, distribution: string): void {
  describe('upgrades with objects in every version, killed anywhere', () => {
    let versions: string[];
    let product: Killable;
    let stage: Stage;

    beforeEach(async () => {
      const all = await openDistribution(distribution).versions();
      versions = all.filter((version) => version !== 'v2.9.2').sort(compareVersions);
      product = await killable({ ...realApis(), stop: realApis().forget });
      stage = await startStage(product.apis, distribution);
      await stage.startProduct();
    });

    afterEach(async () => {
      await stage[Symbol.asyncDispose]();
      await product[Symbol.asyncDispose]();
      await product.apis.stop();
    });

    const store = () => ({ etcd: realApis().etcd, prefix: 'shoot', client: stage.shoot });
    const ask = (version: string) => askForFlux(stage, version, componentsOf(version));
    const untilInstalled = (version: string) => untilInstalledIn(stage, version, 120);
    /** @returns the objects, each stored in another version of its kind */
    const fillAll = async (crds: KubeObject[]) => {
      await stage.stopResourceManager();
      await Promise.all(crds.map((crd) => fill(store(), crd)));
      await stage.startResourceManager();
      return everything(stage.shoot, crds);
    };
    /** @param kills after so many pieces of the requests of each life @returns how many of them happened */
    const upgrade = async (version: string, kills: number[]) => {
      await ask(version);
      let happened = 0;
      for (const pieces of kills) {
        const cut = product.cutAfter(pieces).then(() => true);
        const isKilled = await Promise.race([
          cut,
          untilInstalled(version).then(
            () => false,
            () => false,
          ),
        ]);
        if (!isKilled) break;
        happened += 1;
        await stage.stopProduct();
        product.pass();
        await stage.startProduct();
      }
      product.pass();
      await untilInstalled(version);
      return happened;
    };
    const expectWhole = async (version: string, before: Record<string, object>) => {
      const crds = await crdsOf(distribution, version);
      expect(await notCurrent(store(), crds)).toEqual([]);
      expect(await everything(stage.shoot, crds)).toMatchObject(before);
    };

    it('one release after the other, from the oldest to the newest', async () => {
      await ask(versions[0] ?? '');
      await untilInstalled(versions[0] ?? '');
      await using deletions = await watchDeletions(stage.shoot);
      let [kills, before] = [0, {} as Record<string, object>];
      for (const [index, version] of versions.slice(1).entries()) {
        before = { ...before, ...(await fillAll(await crdsOf(distribution, versions[index] ?? ''))) };
        kills += await upgrade(version, momentsOf(index));
        await expectWhole(version, before);
      }
      expect(kills).toBeGreaterThan(0);
      expect(Object.keys(before).length).toBeGreaterThan(30);
      expect(await deletions.seen()).toEqual([]);
    });
  });
}

/** Numbers of pieces after which the product is cut off: while it starts, and while it migrates. */
function momentsOf(index: number): number[] {
  const random = (range: number) => Math.abs((numericSeed * (index + 3) * 7919) % range);
  return [30 + random(60), 60 + random(151)];
}
