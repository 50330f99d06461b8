import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { notReady } from '@shoot-flux/landscape/gardenlet';
import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/managed-resources/handler.ts';
import { objectRef } from '../../functions/managed-resources/shoot/objects.ts';
import { handler as readiness } from '../../functions/readiness/handler.ts';
import { RetryableError, retryWithinSeconds } from '../../shared/errors.ts';
import { conditionFactory, lastOperationFactory } from '../../shared/gardener/testing.ts';
import { type Extension, FINALIZER, type ManagedResource } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { aroundEachTest } from './around-each-test.ts';
import { contextOf, settingsOf } from './context.ts';
import { type Followed, follow } from './follow.ts';
import {
  type Apis,
  asleep,
  CONTROL_PLANE,
  providerConfig as config,
  EXTENSION,
  eventually,
  inControlPlane,
  inFlux,
  inProject,
  isMigrated,
  privateRepository,
  reference,
  SEED,
  type ShootParts,
  type Stage,
  smallDeployment,
} from './stage.ts';

const fieldManager = 'gardenlet';
const FOREIGN = 'example.com/other-controller';
const always = config({ syncMode: 'Reconcile' });
const now = () => new Date().toISOString();
/** What gardenlet annotates an Extension with. */
const request = (operation: string, timestamp = now()) => ({
  'gardener.cloud/operation': operation,
  'gardener.cloud/timestamp': timestamp,
});
/** A Shoot with a Secret of its own, and a configuration that copies it. */
const withCreds = { spec: { resources: [reference('creds', 'a')] } };
const copyCreds = { additionalSecretResources: [{ name: 'creds' }] };

/** Gardener's contract (docs/gardener-contract.md), on embedded or real API servers. */
export function contractSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const annotate = (annotations: Record<string, string | null>) =>
      stage.patchExtension({ metadata: { annotations } });
    const create = (metadata: object = {}, spec: object = {}) =>
      stage.seed.create<Extension>(
        resources.extensions,
        {
          apiVersion: 'extensions.gardener.cloud/v1alpha1',
          kind: 'Extension',
          metadata: { ...EXTENSION, ...metadata },
          spec: { type: 'shoot-flux', providerConfig: config(), ...spec },
        } as Extension,
        { fieldManager },
      );
    const setFinalizers = (finalizers: string[]) => stage.patchExtension({ metadata: { finalizers } });
    const setConfig = (providerConfig: unknown) => stage.patchExtension({ spec: { providerConfig } });
    /** Waits by gardenlet's seven rules, for exactly this timestamp. */
    const untilReadyFor = (timestamp: string) =>
      eventually(
        'the Extension is ready',
        stage.extension,
        (live) => notReady(live, timestamp) === undefined,
        (live) => notReady(live, timestamp),
      );
    const untilBranch = (branch: string) => stage.untilBranch(branch, 'flux-system');
    const live = async (providerConfig = config(), parts: ShootParts = {}) => {
      await stage.deliver({ providerConfig, ...parts });
      return stage.bootstrap();
    };
    /** Flux is managed, and the product has nothing to do. */
    const resting = async (parts: Record<string, unknown> = {}) => {
      await live({ ...always, ...parts });
      await stage.quiet();
    };
    const stopped = async (parts: Record<string, unknown> = {}) => {
      await resting(parts);
      await stage.stopProduct();
    };
    /** The runs of `managed-resources` for the Extension, read from the log. */
    const runs = () =>
      stage.logLines
        .map((line) => JSON.parse(line) as Record<string, string>)
        .filter(({ message, function: fn }) => message === 'reconcile finished' && fn === 'managed-resources');
    /** The event on Extension or Cluster starts `managed-resources`, not a requeue that was due; then all is quiet. */
    const noticed = async (happening: () => Promise<unknown>) => {
      // A run that is due anyway would swallow the event, and its log line names ten causes at most.
      await stage.quiet();
      const woken = () => runs().filter(({ causes }) => /^(Extension|Cluster) /.test(causes ?? '')).length;
      const before = woken();
      await happening();
      await eventually(
        'managed-resources has looked',
        async () => woken(),
        (count) => count > before,
      );
      await stage.quiet();
    };
    /** The same, and the Extension stays unchanged. */
    const leftAlone = async (happening: () => Promise<Extension>) => {
      let left: Extension | undefined;
      await noticed(async () => {
        left = await happening();
      });
      expect(await stage.extension()).toEqual(left);
    };

    /** The context of a function, as far as `managed-resources` uses it. */
    const contextWith = (seed: KubeClient, now = () => new Date()) =>
      contextOf({
        kube: async (cluster) => (cluster === SEED ? seed : stage.garden),
        settings: settingsOf({ fluxDistribution }),
        now,
      });

    /** Runs `managed-resources` the given number of seconds from now; again after a conflict, as its queue does. */
    const runIn = async (seconds: number): Promise<Outcome> => {
      const now = () => new Date(Date.now() + seconds * 1000);
      try {
        return await handler({ cluster: SEED, ...EXTENSION }, contextWith(stage.seed, now));
      } catch (error) {
        // The resource-manager writes to the same ManagedResources at the same time.
        if (error instanceof ConflictError) return runIn(seconds);
        throw error;
      }
    };

    /** The error after a run at that time. */
    const errorIn = async (seconds: number) => {
      await runIn(seconds);
      return (await stage.extension()).status?.lastError?.description;
    };

    /** A seed client that does this whenever a function has read the Extension. */
    const afterReading = (happens: () => Promise<void>): KubeClient => ({
      ...stage.seed,
      async find<T extends KubeObject>(...[resource, name, options]: Parameters<KubeClient['find']>) {
        const found = await stage.seed.find<T>(resource, name, options);
        if (resource === resources.extensions) await happens();
        return found;
      },
    });

    describe('operations', () => {
      it('rule 1.3: reconcile is Create at first and Reconcile later, and accepts before writing anything', async () => {
        await using extensions = await follow<Extension>(stage.seed, resources.extensions, CONTROL_PLANE);
        await using managed = await follow<ManagedResource>(stage.seed, resources.managedResources, CONTROL_PLANE);
        await stage.deliver({ providerConfig: config() });
        const accepted = (await extensions.versions()).find(
          ({ metadata }) => metadata.annotations?.['gardener.cloud/operation'] === undefined,
        );
        expect(accepted?.metadata.finalizers).toEqual([FINALIZER]);
        expect(accepted?.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Processing', progress: 1 });
        const written = await managed.versions();
        expect(new Set(written.map(({ metadata }) => metadata.name)).size).toBe(4);
        // All kinds of an API server share one resourceVersion counter.
        const first = Math.min(...written.map(({ metadata }) => Number(metadata.resourceVersion)));
        expect(Number(accepted?.metadata.resourceVersion)).toBeLessThan(first);
        const created = await stage.extension();
        expect(created.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Succeeded', progress: 100 });
        expect(created.metadata.generation).toBe(1);

        const { status } = await stage.deliver({ providerConfig: config({}, 'other') });
        expect(status?.lastOperation).toMatchObject({ type: 'Reconcile', state: 'Succeeded', progress: 100 });
      });

      it('rule 1.3: continues a failed operation under its own type', async () => {
        await stage.reconcileShoot({ providerConfig: config({ syncModus: 'Once' }) });
        await stage.untilError();
        const failed = await stage.extension();
        expect(failed.status?.lastOperation).toMatchObject({ type: 'Create', state: 'Error', progress: 50 });
        expect(failed.status?.observedGeneration).toBe(failed.metadata.generation);
        await stage.patchExtension({ spec: { providerConfig: { syncModus: null } } });
        expect((await stage.deliver({ providerConfig: config() })).status?.lastOperation?.type).toBe('Create');
      });

      it('trap 2: does not lose a request that gardenlet makes during a run', async () => {
        await stage.reconcileShoot({ ...withCreds, providerConfig: config(copyCreds) });
        await stage.until('it waits for the copy', ({ lastOperation }) => lastOperation?.state === 'Processing');
        await eventually('it is accepted', stage.extension, isAccepted);
        const timestamp = new Date(Date.now() + 2000).toISOString();
        await stage.operate('reconcile', timestamp);
        await eventually('it is accepted again', stage.extension, isAccepted);
        expect(notReady(await stage.extension(), timestamp)).toBeDefined();
        await stage.putSecret('seed', inControlPlane('ref-a'), { key: 'value' });
        await untilReadyFor(timestamp);
      });

      it('rule 1.2: ignores operations that Gardener defines for other kinds', async () => {
        await resting();
        await leftAlone(() => annotate({ 'gardener.cloud/operation': 'keepalive' }));
      });

      it('trap 2: removes the restore annotation only after success', async () => {
        await stage.writeCluster();
        await using extensions = await follow<Extension>(stage.seed, resources.extensions, CONTROL_PLANE);
        await create({ annotations: request('restore') });
        const restored = await stage.untilReady();
        expect(restored.status?.lastOperation).toMatchObject({ type: 'Restore', state: 'Succeeded' });
        expect(restored.metadata.finalizers).toEqual([FINALIZER]);
        const states = operationChanges(await extensions.versions());
        expect(states).toContain('Processing restore');
        expect(states.slice(-2)).toEqual(['Succeeded restore', 'Succeeded -']);
        expect(states.filter((state) => !state.endsWith('restore'))).toEqual(['Succeeded -']);
      });

      it('trap 9: migrate adds no finalizer, and removes all finalizers last, with its annotation', async () => {
        await live();
        await setFinalizers([FINALIZER, FOREIGN]);
        await using extensions = await follow<Extension>(stage.seed, resources.extensions, CONTROL_PLANE);
        await stage.operate('migrate');
        const { metadata, status } = await eventually('it is migrated', stage.extension, isMigrated);
        expect(metadata.finalizers ?? []).toEqual([]);
        expect(status?.lastOperation?.progress).toBe(100);
        const versions = await extensions.versions();
        const isUnderWay = ({ status: { lastOperation } = {} }: Extension) =>
          lastOperation?.type !== 'Migrate' || lastOperation.state !== 'Succeeded';
        for (const version of versions.filter(isUnderWay)) {
          expect(version.metadata.finalizers).toEqual([FINALIZER, FOREIGN]);
          expect(version.metadata.annotations).toMatchObject({ 'gardener.cloud/operation': 'migrate' });
        }
        expect(await stage.managedResources()).toEqual({});
      });

      it('trap 9: migrates an Extension that was never reconciled, without a finalizer', async () => {
        await stage.writeCluster();
        await using extensions = await follow<Extension>(stage.seed, resources.extensions, CONTROL_PLANE);
        await create({ annotations: request('migrate') });
        await eventually('it is migrated', stage.extension, isMigrated);
        const finalizers = (await extensions.versions()).flatMap(({ metadata }) => metadata.finalizers ?? []);
        expect(finalizers).toEqual([]);
      });

      it('trap 8: prefers migrate to a deletion, and succeeds', async () => {
        // A deletion would remove Flux.
        await stopped();
        await stage.operate('migrate');
        await stage.deleteExtension();
        await stage.startProduct();
        await stage.untilGone();
        await stage.quiet();
        expect(await stage.managedResources()).toEqual({});
        expect(await stage.inShoot(resources.deployments, 'source-controller')).toBeDefined();
        expect(runs().filter(({ error }) => error !== undefined && !error.includes('Conflict'))).toEqual([]);
      });

      it('trap 2: finishes restoring a Shoot that is being deleted', async () => {
        const metadata = { deletionTimestamp: '2026-01-02T03:04:05Z' };
        await stage.writeCluster({ metadata });
        await create({ annotations: request('restore') });
        await stage.untilReady();
        expect(await stage.managedResources()).toEqual({});
      });

      it('trap 9: a deletion removes only our finalizer; trap 39: and writes nothing afterwards', async () => {
        await live();
        await setFinalizers([FOREIGN, FINALIZER]);
        await stage.deleteExtension();
        const left = await eventually(
          'our finalizer is gone',
          stage.extension,
          ({ metadata }) => metadata.finalizers?.includes(FINALIZER) !== true,
        );
        expect(left.metadata.finalizers).toEqual([FOREIGN]);
        expect(left.status?.lastOperation).toMatchObject({ type: 'Delete', state: 'Succeeded', progress: 100 });
        expect(await stage.managedResources()).toEqual({});
        await leftAlone(async () => {
          // In another second, so that an earlier report does not satisfy it.
          const repeated = await annotate({ 'gardener.cloud/timestamp': new Date(Date.now() + 2000).toISOString() });
          await stage.deleteExtension();
          return repeated;
        });
      });
    });

    describe('the gate', () => {
      it('trap 7: does nothing for a Failed Shoot, and everything once it is retried', async () => {
        await live(always);
        await stage.writeCluster({ status: { lastOperation: failed } });
        await leftAlone(async () => {
          await setConfig(config({ syncMode: 'Reconcile' }, 'other'));
          return stage.operate('reconcile');
        });
        await stage.deliver({ providerConfig: config({ syncMode: 'Reconcile' }, 'other') });
        await untilBranch('other');
      });

      it('trap 7: carries out a deletion that a Failed Shoot delayed when gardenlet repeats it', async () => {
        await live();
        await stage.writeCluster({ status: { lastOperation: failed } });
        await noticed(stage.deleteExtension);
        expect((await stage.extension()).metadata.finalizers).toEqual([FINALIZER]);
        await stage.writeCluster();
        // Nothing else starts a run now.
        await noticed(async () => {
          await annotate({ 'confirmation.gardener.cloud/deletion': 'true', 'gardener.cloud/timestamp': now() });
          await stage.deleteExtension();
        });
        await stage.untilGone();
        expect(await stage.managedResources()).toEqual({});
      });

      it('trap 7: does nothing after Migrate/Succeeded, not even on DELETE', async () => {
        await live();
        await stage.operate('migrate');
        await eventually('it is migrated', stage.extension, isMigrated);
        await stage.quiet();
        await leftAlone(() => setConfig(config({}, 'other')));
        await leftAlone(() => stage.operate('reconcile'));
        await setFinalizers([FINALIZER]);
        await noticed(stage.deleteExtension);
        const { metadata, status } = await stage.extension();
        expect(metadata.finalizers).toEqual([FINALIZER]);
        expect(status?.lastOperation).toMatchObject({ type: 'Migrate', state: 'Succeeded' });
        expect(await stage.managedResources()).toEqual({});
      });

      it('trap 12: ignores Extensions of another type or class', async () => {
        const garden = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden' } };
        await stage.seed.apply(resources.namespaces, garden, { fieldManager });
        const annotations = request('reconcile');
        const others = [
          await create({ name: 'shoot-dns', annotations }, { type: 'shoot-dns' }),
          await create({ namespace: 'garden', annotations }, { class: 'seed' }),
        ];
        await stage.deliver({ providerConfig: config() });
        await stage.quiet();
        for (const other of others) {
          expect(await stage.seed.find(resources.extensions, other.metadata)).toEqual(other);
        }
        expect(runs().filter(({ key }) => !key?.endsWith(`/${CONTROL_PLANE}/shoot-flux`))).toEqual([]);
      });

      it('trap 12: handles an Extension with the explicit class shoot', async () => {
        await stage.writeCluster();
        const timestamp = now();
        const annotations = request('reconcile', timestamp);
        await create({ annotations }, { class: 'shoot' });
        await untilReadyFor(timestamp);
      });

      it('trap 40: waits for a missing Cluster, in a creation and in a deletion', async () => {
        const timestamp = now();
        const annotations = request('reconcile', timestamp);
        const untilFailed = (count: number) =>
          eventually(
            'the runs fail',
            async () => runs().filter(({ outcome, error }) => outcome === 'retry' && error?.includes('Cluster')),
            ({ length }) => length >= count,
          );
        const created = await create({ annotations });
        await untilFailed(2);
        expect(await stage.extension()).toEqual(created);
        await stage.writeCluster();
        await untilReadyFor(timestamp);

        await stage.seed.delete(resources.clusters, { name: CONTROL_PLANE });
        await stage.quiet();
        const count = (await untilFailed(0)).length;
        await stage.deleteExtension();
        await untilFailed(count + 1);
        expect((await stage.extension()).metadata.finalizers).toEqual([FINALIZER]);
        expect(Object.keys(await stage.managedResources())).toHaveLength(4);
        await stage.writeCluster();
        await stage.untilGone();
        expect(await stage.managedResources()).toEqual({});
      });
    });

    describe('what gardenlet waits for', () => {
      it('trap 3: clears the error of an earlier run with Processing', async () => {
        await stage.reconcileShoot({ providerConfig: { ...config(), syncModus: 'Once' } });
        await stage.untilError();
        await using extensions = await follow<Extension>(stage.seed, resources.extensions, CONTROL_PLANE);
        await stage.patchExtension({ spec: { providerConfig: { syncModus: null } } });
        await stage.deliver({ providerConfig: config() });
        const going = (await extensions.versions()).filter(
          ({ status }) => status?.lastOperation?.state === 'Processing',
        );
        expect(going.length).toBeGreaterThan(0);
        expect(going.map(({ status }) => status?.lastError ?? null)).toEqual(going.map(() => null));
      });

      it('trap 11: preserves a condition that another controller publishes during a run', async () => {
        await stopped();
        await stage.shoot.delete(gitRepositories, inFlux('flux-system'));
        const theirs = conditionFactory({ type: 'SomebodyElses' });
        let published: Extension | undefined;
        const seed = afterReading(async () => {
          const { status } = await stage.extension();
          published ??= await stage.patchStatus({ conditions: [...(status?.conditions ?? []), theirs] });
        });
        const run = readiness({ cluster: SEED, ...EXTENSION }, contextWith(seed));
        await expect(run).rejects.toThrow(/has been modified/);
        expect((await stage.extension()).status?.conditions).toEqual(published?.status?.conditions);
        expect(published?.status?.conditions).toContainEqual(theirs);
      });

      it('trap 13: retries within 15 s while gardenlet waits or is about to', async () => {
        await stopped();
        const seed: KubeClient = { ...stage.seed, list: async () => Promise.reject(new RetryableError('No answer.')) };
        const failure = () =>
          handler({ cluster: SEED, ...EXTENSION }, contextWith(seed)).then(
            () => undefined,
            (error: unknown) => error,
          );
        expect(retryWithinSeconds(await failure())).toBeUndefined();
        // The shoot's API is not up yet; gardenlet asks once it is.
        await stage.writeCluster({ spec: { hibernation: { enabled: false } }, status: { hibernated: true } });
        expect(retryWithinSeconds(await failure())).toBe(15);
        await stage.writeCluster();
        await stage.operate('reconcile');
        expect(retryWithinSeconds(await failure())).toBe(15);
        expect((await stage.extension()).status?.lastError?.description).toBe('No answer.');
        await stage.seed.delete(resources.clusters, { name: CONTROL_PLANE });
        expect(retryWithinSeconds(await failure())).toBe(15);
      });

      it('asks for another look in every run until all is applied: the outcome of a run replaces the pending look', async () => {
        await stage.stopProduct();
        await stage.stopResourceManager();
        await stage.reconcileShoot({ providerConfig: always });
        const run = () => runIn(0);
        for (let count = 0; count < 3; count++) {
          expect(await run()).toMatchObject({ type: 'requeue', afterSeconds: 20 });
        }
        await stage.startResourceManager();
        await stage.startProduct();
        await stage.untilReady();
      });

      it.each(['new request', 'repeated request'])(
        'trap 4: does not report a generation edited during the run (%s)',
        async (how) => {
          await live(always);
          await stage.stopProduct();
          if (how === 'new request') await stage.operate('reconcile');
          // Seconds are compared: a request within the second of the last report would count as answered.
          else await annotate({ 'gardener.cloud/timestamp': new Date(Date.now() + 1000).toISOString() });
          const before = await stage.extension();
          let edited: Extension | undefined;
          const seed = afterReading(async () => {
            edited ??= await setConfig(config({ syncMode: 'Reconcile' }, 'other'));
          });
          const run = handler({ cluster: SEED, ...EXTENSION }, contextWith(seed));
          await expect(run).rejects.toThrow(/has been modified/);
          expect(edited?.metadata.generation).toBeGreaterThan(before.metadata.generation ?? 0);
          expect((await stage.extension()).status).toEqual(before.status);
          await stage.startProduct();
          await untilBranch('other');
          await stage.untilReady();
        },
      );

      it.each([
        ['ahead of ours', 30_000],
        ['behind ours', -3_600_000],
      ])('trap 5: satisfies a gardenlet whose clock is %s', async (_, skew) => {
        for (const branch of ['main', 'main', 'other']) {
          await stage.reconcileShoot({ providerConfig: config({}, branch) });
          const timestamp = `${new Date(Date.now() + skew).toISOString().slice(0, 19)}.999999999Z`;
          await stage.operate('reconcile', timestamp);
          const { status, metadata } = await untilReadyFor(timestamp);
          expect(status?.lastOperation?.lastUpdateTime).toMatch(/^\S{19}Z$/);
          expect(metadata.annotations?.['gardener.cloud/timestamp']).toBe(timestamp);
        }
      });

      it('rule 1.4: reconciles a manual spec edit that gardenlet did not request', async () => {
        await resting();
        const { metadata } = await stage.extension();
        await noticed(() => setConfig(config({ syncMode: 'Reconcile' }, 'other')));
        await untilBranch('other');
        const { status } = await stage.until('the end', (live) => live.observedGeneration !== metadata.generation);
        expect(status?.lastOperation).toMatchObject({ type: 'Reconcile' });
        await stage.untilReady();
      });

      it('trap 15: succeeds in a shoot without nodes, where nothing runs', async () => {
        await stage.deliver({ providerConfig: config(), spec: { provider: { type: 'local', workers: [] } } });
        const { status } = await stage.until(
          'readiness has looked',
          ({ conditions }) => conditions?.some(({ type }) => type === 'FluxReady') === true,
        );
        expect(status?.conditions?.find(({ type }) => type === 'FluxReady')?.status).toBe('False');
        const controller = await stage.inShoot(resources.deployments, 'source-controller');
        expect(controller).not.toHaveProperty('status.availableReplicas');
        await stage.quiet();
        await stage.untilReady();
      });
    });

    describe('forms of Shoots', () => {
      it('trap 33: handles a Cluster with only its required fields', async () => {
        const shoot = { ...shootKind, metadata: inProject('bar'), spec: {} };
        const timestamp = now();
        await stage.seed.create(resources.clusters, clusterOf(CONTROL_PLANE, shoot), { fieldManager });
        const annotations = request('reconcile', timestamp);
        const extension = await create({ annotations }, { providerConfig: undefined });
        expect(extension.spec).toEqual({ type: 'shoot-flux' });
        await untilReadyFor(timestamp);
        const facts = await stage.inShoot(resources.configMaps, 'shoot-info');
        expect(facts?.data).toMatchObject({ SHOOT_INFO_NAME: 'bar', SHOOT_INFO_TECHNICAL_ID: CONTROL_PLANE });
        await stage.leave();
      });

      it('rule 2.1: handles a self-hosted shoot, whose control plane is kube-system and has no seed', async () => {
        const labels = { 'gardener.cloud/role': 'shoot' };
        const system = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', labels } };
        await stage.seed.apply(resources.namespaces, system, { fieldManager });
        const shoot = {
          ...{ ...shootKind, metadata: inProject('own') },
          spec: { kubernetes: { version: '1.34.2' }, region: 'here', provider: { type: 'local' } },
          status: { technicalID: 'kube-system', uid: 'u', clusterIdentity: 'kube-system-u-garden' },
        };
        await stage.seed.create(resources.clusters, clusterOf('kube-system', shoot), { fieldManager });
        const timestamp = now();
        const annotations = request('reconcile', timestamp);
        const access = await stage.seed.find<Data>(resources.secrets, inControlPlane('gardener'));
        const there = { namespace: 'kube-system', name: 'shoot-flux' };
        await stage.seed.create(
          resources.secrets,
          { ...withoutMetadata(access), metadata: { ...there, name: 'gardener' } },
          { fieldManager },
        );
        await create({ namespace: 'kube-system', annotations });
        const findThere = () => stage.seed.find<Extension>(resources.extensions, there);
        await eventually(
          'the Extension is ready',
          findThere,
          (found) => found !== undefined && notReady(found, timestamp) === undefined,
        );
        const facts = await stage.inShoot(resources.configMaps, 'shoot-info');
        expect(facts?.data).toMatchObject({ SHOOT_INFO_NAME: 'own', SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: 'garden' });
        await stage.seed.delete(resources.extensions, there);
        await eventually('the Extension is gone', findThere, (found) => found === undefined);
        const { items } = await stage.seed.list(resources.managedResources, { namespace: 'kube-system' });
        expect(items).toEqual([]);
      });
    });

    describe('hibernation', () => {
      it('trap 17: succeeds without touching a hibernated Shoot, and delivers changes when it wakes up', async () => {
        await live(always);
        const access = await stage.seed.find(resources.secrets, inControlPlane('gardener'));
        await stage.stopResourceManager();
        await stage.seed.delete(resources.secrets, inControlPlane('gardener'));
        await stage.quiet();
        const before = { seed: await stage.managedResources(), shoot: await versionsInShoot(stage) };
        const sleeping = await stage.deliver({ ...asleep, providerConfig: config({ syncMode: 'Reconcile' }, 'other') });
        await stage.setFluxConfig({ logLevel: 'debug' });
        await stage.quiet();
        expect({ seed: await stage.managedResources(), shoot: await versionsInShoot(stage) }).toEqual(before);
        expect((await stage.extension()).status?.conditions).toEqual(sleeping.status?.conditions);

        await stage.startResourceManager();
        await stage.seed.create(resources.secrets, withoutMetadata(access), { fieldManager });
        await stage.deliver({ providerConfig: config({ syncMode: 'Reconcile' }, 'other') });
        await untilBranch('other');
        const controller = await stage.inShoot(resources.deployments, 'source-controller');
        expect(JSON.stringify(controller?.spec)).toContain('--log-level=debug');
      });

      it('trap 17: installs Flux when a Shoot that was created hibernated wakes up', async () => {
        await stage.stopResourceManager();
        const { status } = await stage.deliver({ ...asleep, providerConfig: config() });
        expect(status?.lastOperation?.type).toBe('Create');
        expect(await stage.managedResources()).toEqual({});
        await stage.startResourceManager();
        await live();
      });

      it('rule 8: migrates and restores a hibernated Shoot, with Flux unchanged when it wakes up', async () => {
        await resting();
        const before = await versionsInShoot(stage);
        await stage.stopResourceManager();
        const providerConfig = always;
        await stage.deliver({ ...asleep, providerConfig });
        const record = await stage.moveAway();
        await createWaiting(providerConfig);
        await stage.restore(record);
        expect((await stage.untilReady()).status?.lastOperation?.type).toBe('Restore');
        expect(await versionsInShoot(stage)).toEqual(before);
        await stage.startResourceManager();
        const { status } = await stage.deliver({ providerConfig });
        expect(status?.state?.bootstrapped).toEqual(record.status?.state?.bootstrapped);
        expect(Object.keys(await stage.managedResources())).toHaveLength(4);
      });
    });

    describe('migration', () => {
      it.each([
        ['Once', ['shoot-flux-secrets']],
        ['Reconcile', ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync']],
      ])('trap 20: does not bootstrap again after a restore on another seed in mode %s', async (syncMode, managed) => {
        const providerConfig = { additionalSecretResources: [{ name: 'creds', targetName: 'pull' }] };
        const copy = () => stage.putSecret('seed', inControlPlane('ref-a'), { key: 'value' });
        await copy();
        await stage.setFluxConfig({ ...privateRepository, syncMode });
        await live(providerConfig, withCreds);
        await stage.untilManagedResources(...managed);
        await stage.quiet();
        const before = { key: await keyIn(stage), shoot: await versionsInShoot(stage) };
        expect(before.key.garden).toEqual(before.key.shoot);

        const record = await stage.moveAway();
        expect(await versionsInShoot(stage)).toEqual(before.shoot);
        expect(await stage.managedResources()).toEqual({});
        expect(record.status?.resources).toEqual([reference('creds', 'ref-a')]);
        await stage.seed.delete(resources.secrets, inControlPlane('ref-a'));

        await createWaiting(providerConfig);
        await copy();
        await stage.restore(record);
        const restored = await stage.untilReady();
        expect(restored.status?.lastOperation).toMatchObject({ type: 'Restore', state: 'Succeeded' });
        await stage.quiet();
        expect((await stage.extension()).status?.state?.bootstrapped).toEqual(record.status?.state?.bootstrapped);
        expect(Object.keys(await stage.managedResources()).sort()).toEqual(managed);
        expect(await keyIn(stage)).toEqual(before.key);
        const identities = (objects: [string, string][]) => objects.map(([ref]) => ref);
        expect(identities(await versionsInShoot(stage))).toEqual(identities(before.shoot));
        if (syncMode === 'Once') expect(await versionsInShoot(stage)).toEqual(before.shoot);
      });

      it.each([
        ['Reconcile', ['Secret flux-sops']],
        ['Once', ['Secret flux-sops', 'Kustomization old']],
      ])(
        'deletes from the shoot what has left the configuration meanwhile, as far as mode %s follows it',
        async (syncMode, left) => {
          const named = (name: string) => ({
            kustomization: { template: { metadata: { name }, spec: { path: './' } } },
          });
          const keys = { 'age.agekey': 'AGE-SECRET-KEY-1A' };
          await stage.putSecret('garden', inProject('flux-variables'), { team: 'blue' });
          await stage.putSecret('garden', inProject('flux-sops'), keys);
          await stage.setFluxConfig({ ...privateRepository, syncMode });
          await live(named('old'));
          await stage.quiet();
          const record = await stage.moveAway();
          // A user replaces one of the copies: it carries no mark of ours.
          await stage.shoot.delete(resources.secrets, inFlux('flux-sops'));
          await stage.putSecret('shoot', inFlux('flux-sops'), keys);
          for (const each of ['flux-variables', 'flux-sops']) {
            await stage.garden.delete(resources.secrets, inProject(each));
          }
          await createWaiting(named('new'));
          await stage.restore(record);
          await stage.untilReady();
          await stage.quiet();
          const found = {
            'Secret flux-variables': await stage.inShoot(resources.secrets, 'flux-variables'),
            'Secret flux-sops': await stage.inShoot(resources.secrets, 'flux-sops'),
            'Kustomization old': await stage.inShoot(kustomizations, 'old'),
          };
          expect(Object.entries(found).flatMap(([name, object]) => (object === undefined ? [] : [name]))).toEqual(left);
          expect((await stage.extension()).status?.state?.applied).not.toHaveProperty('surplus');
          // Once for each run, of which one may be repeated.
          const lines = stage.logLines.filter((line) => line.includes('object left in the shoot'));
          expect(new Set(lines.map((line) => JSON.parse(line).object))).toEqual(
            new Set(['Secret/flux-system/flux-sops']),
          );
        },
      );

      it('waits for a kubeconfig before it delivers again what the surplus may still hold, and reports it in time', async () => {
        const named = (name: string) =>
          config({ syncMode: 'Reconcile', kustomization: { template: { metadata: { name }, spec: { path: './' } } } });
        await live(named('old'));
        await stage.quiet();
        const record = await stage.moveAway();
        const kubeconfig = await stage.seed.find(resources.secrets, inControlPlane('gardener'));
        await stage.seed.delete(resources.secrets, inControlPlane('gardener'));
        await createWaiting(named('new'));
        await stage.restore(record);
        await stage.untilReady();
        await stage.reconcileShoot({ providerConfig: named('old') });
        await stage.untilError('no kubeconfig');
        const before = runs().length;
        await sleep(10_000);
        expect(runs().length - before).toBeLessThan(3);
        await stage.seed.create(resources.secrets, withoutMetadata(kubeconfig), { fieldManager });
        await stage.deliver({ providerConfig: named('old') });
        await stage.until('no surplus', ({ state }) => state?.applied?.surplus === undefined);
      });

      it('trap 6: does nothing while the Extension waits for its state', async () => {
        await stage.writeCluster();
        await createWaiting(config());
        await leftAlone(() => setConfig(config({}, 'other')));
        await leftAlone(() =>
          stage.patchStatus({ state: { bootstrapped: { at: now(), fluxVersion: 'v2.0.0', configHash: 'a' } } }),
        );
        expect(await stage.managedResources()).toEqual({});
        await stage.leave();
      });
    });

    describe('ManagedResources', () => {
      it('trap 28: writes each ManagedResource after its Secret', async () => {
        await stage.deliver({ providerConfig: config() });
        const written = stage.requests
          .filter(({ identity, method }) => identity === 'managed-resources' && method === 'POST')
          .map(({ resource }) => resource.split('.')[0]);
        expect(written).toEqual(Array.from({ length: 4 }, () => ['secrets', 'managedresources']).flat());
      });

      it('trap 26: owns ManagedResources by label and class, and leaves none behind in a deletion', async () => {
        await live(always);
        for (const { metadata, spec } of Object.values(await stage.managedResources())) {
          expect(metadata.labels).toMatchObject({ origin: 'shoot-flux' });
          expect(spec.class).toBeUndefined();
        }
        await stage.leave();
        expect(await stage.managedResources()).toEqual({});
      });

      const untilApplied = (name: string, reason: string) =>
        eventually(reason, stage.managedResources, (all) =>
          JSON.stringify(all[name]?.status?.conditions ?? []).includes(`"${reason}"`),
        );
      const relabel = (name: string, origin: string | null) =>
        stage.seed.mergePatch(
          resources.managedResources,
          inControlPlane(name),
          { metadata: { labels: { origin } } },
          { fieldManager },
        );
      const foreign = async (name: string) => {
        const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'kube-system', name: 'theirs' } };
        await stage.putSecret('seed', inControlPlane('theirs'), { 'a.yaml': JSON.stringify(content) });
        const managedResource = {
          ...{ apiVersion: 'resources.gardener.cloud/v1alpha1', kind: 'ManagedResource' },
          ...{ metadata: inControlPlane(name), spec: { secretRefs: [{ name: 'theirs' }] } },
        };
        await stage.seed.create(resources.managedResources, managedResource, { fieldManager });
        await eventually(
          'it is applied',
          () => stage.shoot.find(resources.configMaps, content.metadata),
          (found) => found !== undefined,
        );
        return content.metadata;
      };

      it('trap 26: relabels a ManagedResource that lost its label, or removes it with the extension', async () => {
        await resting();
        await relabel('shoot-flux-sync', null);
        await eventually(
          'it has its label',
          stage.managedResources,
          (all) => all['shoot-flux-sync']?.metadata.labels?.origin === 'shoot-flux',
        );
        await stage.until('the end', ({ lastOperation }) => lastOperation?.state === 'Succeeded');
        await stage.stopProduct();
        await relabel('shoot-flux-sync', null);
        await stage.deleteExtension();
        await stage.startProduct();
        await stage.untilGone();
        expect(await stage.managedResources()).toEqual({});
      });

      it('trap 26: reports a ManagedResource with a foreign finalizer, and finishes the deletion once it is gone', async () => {
        await stopped({ deletionPolicy: 'Orphan' });
        const hold = (finalizers: string[]) =>
          stage.seed.mergePatch(
            resources.managedResources,
            inControlPlane('shoot-flux-sync'),
            { metadata: { finalizers } },
            { fieldManager },
          );
        await hold(['resources.gardener.cloud/gardener-resource-manager', FOREIGN]);
        await stage.deleteExtension();
        await runIn(0);
        expect((await stage.extension()).status?.lastOperation).toMatchObject({ type: 'Delete', state: 'Processing' });
        await eventually(
          'the others are gone',
          async () => Object.keys(await stage.managedResources()),
          (names) => names.join() === 'shoot-flux-sync',
        );
        expect(await errorIn(70)).toBe(
          `ManagedResource ${CONTROL_PLANE}/shoot-flux-sync cannot be deleted because of its finalizer ${FOREIGN}; the controller that added the finalizer has to remove it.`,
        );
        await hold([]);
        await stage.startProduct();
        await stage.untilGone();
      });

      it("trap 26: releases the Go extension's ManagedResources in a deletion without an earlier reconciliation", async () => {
        await stage.stopProduct();
        const name = 'extension-shoot-flux-flux-install';
        const theirs = await foreign(name);
        await stage.stopResourceManager();
        await stage.startProduct();
        await stage.deliver({ ...asleep, providerConfig: config() });
        expect(Object.keys(await stage.managedResources())).toEqual([name]);
        await stage.leave();
        expect(await stage.managedResources()).toEqual({});
        expect(await stage.shoot.find(resources.configMaps, theirs)).toBeDefined();
      });

      it('trap 28: rewrites a lost Secret and triggers the resource-manager', async () => {
        await using managed = await follow<ManagedResource>(stage.seed, resources.managedResources, CONTROL_PLANE);
        await stopped();
        const name = 'shoot-flux-sync';
        const lost = (await stage.managedResources())[name]?.spec.secretRefs[0]?.name ?? '';
        await stage.seed.delete(resources.secrets, inControlPlane(lost));
        // As after a restart of the resource-manager, or an hour later.
        await stage.stopResourceManager();
        await stage.startResourceManager();
        await untilApplied(name, 'CannotReadSecret');
        await runIn(0);
        expect(await stage.seed.find(resources.secrets, inControlPlane(lost))).toBeDefined();
        await untilApplied(name, 'ApplySucceeded');
        expect(await askedAgain(managed)).toEqual(new Set([name]));
      });

      it('reports a foreign ManagedResource with our name and leaves it unchanged', async () => {
        const theirs = await foreign('shoot-flux-sync');
        await stage.reconcileShoot({ providerConfig: config() });
        const { description } = await stage.untilError();
        expect(description).toBe(
          `ManagedResource ${CONTROL_PLANE}/shoot-flux-sync belongs to another owner, and its objects must not be replaced; delete it, or recreate it under another name.`,
        );
        await stage.leave();
        expect(Object.keys(await stage.managedResources())).toEqual(['shoot-flux-sync']);
        expect(await stage.shoot.find(resources.configMaps, theirs)).toBeDefined();
      });

      it('rule 2.2: rechecks copies after an operation, because their changes cause no event', async () => {
        await stage.putSecret('seed', inControlPlane('ref-a'), { key: 'value' });
        await stage.deliver({ ...withCreds, providerConfig: config(copyCreds) });
        await stage.stopProduct();
        expect(await runIn(0)).toMatchObject({ type: 'requeue' });
        expect(await runIn(3600)).toEqual(done);
      });

      it('trap 23: reports a deleted ManagedResource that is stuck, and recreates it once it is gone', async () => {
        await stopped();
        const hold = (finalizers: string[]) =>
          stage.shoot.mergePatch(
            gitRepositories,
            inFlux('flux-system'),
            { metadata: { finalizers } },
            { fieldManager: 'person' },
          );
        await hold(['finalizers.fluxcd.io']);
        await stage.seed.delete(resources.managedResources, inControlPlane('shoot-flux-sync'));
        await untilApplied('shoot-flux-sync', 'DeletionPending');
        await stage.operate('reconcile');
        await runIn(0);
        expect((await stage.extension()).status).toMatchObject({ lastOperation: { state: 'Processing' } });
        expect(await errorIn(70)).toMatch(/^ManagedResource shoot-flux-sync: deletion of an old object is stuck/);
        await hold([]);
        await stage.startProduct();
        await stage.until(
          'the end',
          ({ lastOperation, lastError }) => lastOperation?.state === 'Succeeded' && !lastError,
        );
        expect(await stage.inShoot(gitRepositories, 'flux-system')).toBeDefined();
      });

      it('rule 1.5: reports the failure of a late resource-manager while gardenlet waits', async () => {
        await stopped();
        await stage.stopResourceManager();
        await stage.shoot.delete(resources.deployments, inFlux('source-controller'));
        await stage.shoot.create(resources.deployments, otherDeployment, { fieldManager });
        await stage.setFluxConfig({ logLevel: 'debug' });
        await stage.operate('reconcile');
        await runIn(0);
        // The ManagedResource is untouched so far, and its failure would start no run.
        expect(await runIn(25)).toEqual(requeueAfter(20));
        await stage.startResourceManager();
        await untilApplied('shoot-flux-controllers', 'ApplyFailed');
        expect(await errorIn(45)).toContain('its field spec.selector is immutable');
      });

      /** The resource-manager cannot apply a Deployment. */
      const reconcileOccupied = async () => {
        const flux = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };
        await stage.shoot.create(resources.namespaces, flux, { fieldManager });
        await stage.shoot.create(resources.deployments, otherDeployment, { fieldManager });
        await stage.reconcileShoot({ providerConfig: config() });
      };
      const askedAgain = async (managed: Followed<ManagedResource>) => {
        const asked = (await managed.versions()).filter(
          ({ metadata }) => metadata.annotations?.['gardener.cloud/operation'] === 'reconcile',
        );
        return new Set(asked.map(({ metadata }) => metadata.name));
      };

      it('retries at once after a fix in the shoot when gardenlet asks again', async () => {
        await using managed = await follow<ManagedResource>(stage.seed, resources.managedResources, CONTROL_PLANE);
        await reconcileOccupied();
        await stage.untilError();
        // Otherwise the resource-manager could try again before gardenlet asks.
        await stage.stopResourceManager();
        await stage.shoot.delete(resources.deployments, inFlux('source-controller'));
        await stage.reconcileShoot({ providerConfig: config() });
        await eventually(
          'the resource-manager is asked',
          () => askedAgain(managed),
          (asked) => asked.size > 0,
        );
        await stage.startResourceManager();
        await stage.untilReady();
        expect(await askedAgain(managed)).toEqual(new Set(['shoot-flux-controllers']));
      });

      it('trap 25: removes the objects of a failed first pass with the extension', async () => {
        await reconcileOccupied();
        const role = { name: 'crd-controller-flux-system' };
        await eventually(
          'a part is applied',
          () => stage.shoot.find(clusterRoles, role),
          (found) => found !== undefined,
        );
        await eventually('the pass fails', stage.managedResources, (live) =>
          JSON.stringify(live['shoot-flux-controllers']?.status ?? {}).includes('ApplyFailed'),
        );
        expect((await stage.managedResources())['shoot-flux-controllers']?.status).not.toHaveProperty('resources');
        await stage.leave();
        expect(await stage.shoot.find(clusterRoles, role)).toBeUndefined();
        expect(await stage.managedResources()).toEqual({});
      });

      it('rule 7: reports expired credentials of the shoot, and uses the next ones', async () => {
        await stage.deliver({ providerConfig: config() });
        await stage.quiet();
        const access = (await stage.seed.find(resources.secrets, inControlPlane('gardener'))) as Data;
        const kubeconfig = Buffer.from(access.data?.kubeconfig ?? '', 'base64').toString('utf8');
        const expired = kubeconfig.replace(/("?token"?: *"?)[^"\s,}]+/, '$1expired');
        expect(expired).not.toBe(kubeconfig);
        const write = (text: string) =>
          stage.seed.mergePatch(
            resources.secrets,
            inControlPlane('gardener'),
            { data: { kubeconfig: Buffer.from(text).toString('base64') } },
            { fieldManager },
          );
        await write(expired);
        await stage.reconcileShoot({ providerConfig: config({}, 'other') });
        await stage.until(
          'it is reported',
          ({ conditions }) => conditions?.some(({ reason }) => reason === 'ShootNotReachable') === true,
        );
        await stage.untilReady();
        await write(kubeconfig);
        await stage.bootstrap();
      });
    });

    /** gardenlet creates the Extension on the other seed, where it must wait for its state. */
    const createWaiting = (providerConfig: unknown) => leftAlone(() => stage.createWaiting(providerConfig));
  });
}

type Data = KubeObject & { data?: Record<string, string> };

const failed = lastOperationFactory({ type: 'Reconcile', state: 'Failed', progress: 50 });
const shootKind = { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' };

function isAccepted({ metadata }: Extension): boolean {
  return metadata.annotations?.['gardener.cloud/operation'] === undefined;
}

/** Each state of the operation, with its annotation; versions in which only conditions changed are left out. */
function operationChanges(versions: readonly Extension[]): string[] {
  const annotationOf = ({ metadata }: Extension) => metadata.annotations?.['gardener.cloud/operation'] ?? '-';
  return versions
    .filter((version, index) => {
      const before = versions[index - 1];
      const isSameOperation = isDeepStrictEqual(version.status?.lastOperation, before?.status?.lastOperation);
      return before === undefined || !isSameOperation || annotationOf(version) !== annotationOf(before);
    })
    .map((version) => `${version.status?.lastOperation?.state ?? '-'} ${annotationOf(version)}`);
}

function clusterOf(name: string, shoot: object): KubeObject {
  return {
    apiVersion: 'extensions.gardener.cloud/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { shoot, cloudProfile: {}, seed: null },
  } as KubeObject;
}

function withoutMetadata(object: Data | undefined): KubeObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: inControlPlane('gardener'), data: object?.data };
}

/** A Deployment whose immutable selector prevents any other from being applied over it. */
const otherDeployment = smallDeployment(inFlux('source-controller'), 'other', 'example.com/other:v1');

const clusterRoles: Resource = {
  ...{ group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', kind: 'ClusterRole' },
  namespaced: false,
};

const kindsInShoot: Resource[] = [
  resources.customResourceDefinitions,
  resources.deployments,
  resources.configMaps,
  resources.secrets,
  gitRepositories,
  kustomizations,
];

/** Flux in the shoot: names and uids, and the version. */
async function versionsInShoot(stage: Stage): Promise<[string, string][]> {
  const lists = await Promise.all(kindsInShoot.map((resource) => stage.shoot.list(resource, { metadataOnly: true })));
  const isFlux = ({ namespace, name }: KubeObject['metadata']) =>
    namespace === 'flux-system' || name.endsWith('.fluxcd.io');
  return lists
    .flatMap(({ items }) => items)
    .filter(({ metadata }) => isFlux(metadata))
    .map((object): [string, string] => [
      `${objectRef(object)} ${object.metadata.uid}`,
      object.metadata.resourceVersion ?? '',
    ])
    .sort();
}

/** The repository's key pair, in the garden and in the shoot. */
async function keyIn(stage: Stage): Promise<{ garden: unknown; shoot: unknown }> {
  const [garden, shoot] = await Promise.all([
    stage.garden.find<Data>(resources.secrets, inProject('flux-source')),
    stage.shoot.find<Data>(resources.secrets, inFlux('flux-source')),
  ]);
  return { garden: garden?.data, shoot: shoot?.data };
}
