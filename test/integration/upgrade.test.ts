import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { beforeEach, describe, expect, it } from 'vitest';
import { conditionFactory } from '../../shared/gardener/testing.ts';
import { resources } from '../../shared/kube/resource.ts';
import { entriesAt } from '../../shared/shapes.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { eventually, inControlPlane, inFlux, onlyFlux, type Stage } from '../scenarios/stage.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';
import { startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const distribution = await twoReleases();
const ociRepositories = {
  ...{ group: 'source.toolkit.fluxcd.io', plural: 'ocirepositories', kind: 'OCIRepository', namespaced: true },
};
const { version: newest } = standInDistribution;

describe('an upgrade of Flux to a release that drops stored versions', () => {
  let stage: Stage;

  aroundEachTest(startEmbeddedApis, distribution, (next) => {
    stage = next;
  });
  beforeEach(async () => void (await install(FORMER_RELEASE)));

  const ask = (version: string | undefined) =>
    stage.reconcileShoot({
      providerConfig: onlyFlux({ syncMode: 'Reconcile', ...(version !== undefined && { flux: { version } }) }),
    });
  const untilInstalled = async (version: string) => {
    await stage.until(
      version,
      ({ lastOperation, state }) => lastOperation?.state === 'Succeeded' && state?.applied?.fluxVersion === version,
    );
    return stage.untilReady();
  };
  const install = async (version: string | undefined) => {
    await ask(version);
    return untilInstalled(version ?? newest);
  };
  const versions = async () => {
    const name = { name: 'ocirepositories.source.toolkit.fluxcd.io' };
    const live = await stage.shoot.find(resources.customResourceDefinitions, name);
    return entriesAt(live?.spec, 'versions').map(({ name }) => String(name));
  };
  const untilWider = () => eventually('the CRD is wider', versions, ({ length }) => length === 2);

  it('survives that the resource-manager applies the former CRD while the live one is wider', async () => {
    await ask(newest);
    await untilWider();
    await stage.stopResourceManager();
    await stage.startResourceManager();
    await untilInstalled(newest);
    expect(await versions()).toEqual(['v1']);
  });

  it('may be taken back while the objects are being stored in other versions', async () => {
    const former = await versions();
    const spec = { interval: '5m', url: 'oci://registry.example/a' };
    const kind = { ...ociRepositories, version: former[0] ?? '' };
    const object = {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: inFlux('of-the-user'),
      spec,
    };
    await stage.shoot.apply(kind, object, { fieldManager: 'person' });
    await ask(newest);
    await untilWider();
    await install(FORMER_RELEASE);
    await eventually('the CRD is as before', versions, (found) => `${found}` === `${former}`);
    expect(await stage.specInShoot(kind, 'of-the-user')).toMatchObject(spec);
    await install(newest);
    expect(await versions()).toEqual(['v1']);
  });

  it('is proposed where the distribution gets a newer patch: in one Event and on the Extension, until it is asked for', async () => {
    const patch = 'v2.8.1';
    await cp(join(distribution, FORMER_RELEASE), join(distribution, patch), { recursive: true });
    const warning = `providerConfig: flux.version resolves to Flux ${FORMER_RELEASE}, which lacks the fixes of ${patch}; use ${patch}, or the range 2.8.x`;
    for (const _ of [1, 2]) {
      const { status } = await install(FORMER_RELEASE);
      expect(status?.providerStatus?.warnings).toEqual([warning]);
    }
    expect(await stage.events('ConfigurationWarning')).toMatchObject([{ message: `${warning}.` }]);
    const { status } = await install(patch);
    expect(status?.providerStatus).not.toHaveProperty('warnings');
    await rm(join(distribution, patch), { recursive: true });
  });

  it('is complete with the newest release: Events say what changed, once, and it cannot be taken back', async () => {
    const events = async () => (await stage.events('FluxUpgrade')).map(({ message }) => String(message));
    await install(FORMER_RELEASE);
    expect(await events()).toEqual([]);
    stage.requests.length = 0;
    // The request for it was accepted in the first run, and takes several.
    const { status } = await install(undefined);
    expect(status?.state).not.toHaveProperty('upgradingTo');
    expect(await versions()).toEqual(['v1']);
    const said = await events();
    // A second run may send the same Event.
    const posted = stage.requests.filter(({ method, resource }) => method === 'POST' && resource === 'events');
    expect(posted.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
    expect(said).toContainEqual(
      `Flux is upgraded from ${FORMER_RELEASE} to ${newest}. From Flux v2.9.0 on a Kustomization with postBuild fails on a variable that has neither a value nor a default; give each such variable a value, or a default as in $\{name:=default}.`,
    );
    expect(new Set(said).size).toBe(said.length);
    await install(newest);
    expect(await events()).toEqual(said);

    // Also where the shoot refuses its CRDs for a while.
    expect((await stage.extension()).status?.state?.applied?.installed).toBe(newest);
    await stage.stopResourceManager();
    const message = 'admission webhook "policy.example.com" denied the request: not now';
    const conditions = [conditionFactory({ status: 'False', reason: 'ApplyFailed', message })];
    await stage.seed.mergePatch(
      resources.managedResources,
      inControlPlane('shoot-flux-crds'),
      { status: { conditions } },
      { fieldManager: 'test', subresource: 'status' },
    );
    await ask(FORMER_RELEASE);
    await stage.untilError('never downgraded');
    expect((await stage.extension()).status?.state?.applied?.fluxVersion).toBe(newest);
  });
});
