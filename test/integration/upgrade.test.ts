import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { entriesAt } from '../../shared/shapes.ts';
import { eventually, PROJECT, type Stage, startStage } from '../scenarios/stage.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';
import { startEmbeddedApis } from './embedded-apis.ts';

const distribution = await twoReleases();
const ociRepositories = {
  ...{ group: 'source.toolkit.fluxcd.io', plural: 'ocirepositories', kind: 'OCIRepository', namespaced: true },
};
const { version: newest } = standInDistribution;

describe('an upgrade of Flux to a release that drops stored versions', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage(await startEmbeddedApis(), distribution);
    await stage.startProduct();
    await install(FORMER_RELEASE);
  });

  afterEach(() => stage[Symbol.asyncDispose]());

  const ask = (version: string | undefined) =>
    stage.reconcileShoot({
      providerConfig: {
        apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
        kind: 'FluxConfig',
        syncMode: 'Reconcile',
        ...(version !== undefined && { flux: { version } }),
      },
    });
  const untilInstalled = async (version: string) => {
    await eventually(
      version,
      stage.extension,
      ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied?.fluxVersion === version,
      ({ status }) => [status?.lastOperation, status?.lastError, stage.logLines.slice(-5)],
      120,
    );
    return stage.untilReady(120);
  };
  const install = async (version: string | undefined) => {
    await ask(version);
    return untilInstalled(version ?? newest);
  };
  const crd = () =>
    stage.shoot.find(resources.customResourceDefinitions, { name: 'ocirepositories.source.toolkit.fluxcd.io' });
  const versions = (live: Awaited<ReturnType<typeof crd>>) => entriesAt(live?.spec, 'versions').map(({ name }) => name);

  it('continues to the newest release although the request for it was accepted in the first run', async () => {
    const { status } = await install(undefined);
    expect(status?.state).not.toHaveProperty('upgradingTo');
    expect(versions(await crd())).toEqual(['v1']);
  });

  it('survives that the resource-manager applies the former CRD while the live one is wider', async () => {
    await ask(newest);
    await eventually('the CRD is wider', crd, (live) => versions(live).length === 2);
    await stage.stopResourceManager();
    await stage.startResourceManager();
    await untilInstalled(newest);
    expect(versions(await crd())).toEqual(['v1']);
  });

  it('may be taken back while the objects are being stored in other versions', async () => {
    const former = versions(await crd());
    const object = { namespace: 'flux-system', name: 'of-the-user' };
    const spec = { interval: '5m', url: 'oci://registry.example/a' };
    const kind = { ...ociRepositories, version: String(former[0]) };
    const apiVersion = `${kind.group}/${kind.version}`;
    await stage.shoot.apply(kind, { apiVersion, kind: kind.kind, metadata: object, spec }, { fieldManager: 'person' });
    await ask(newest);
    await eventually('the CRD is wider', crd, (live) => versions(live).length === 2);
    await ask(FORMER_RELEASE);
    await untilInstalled(FORMER_RELEASE);
    await eventually(
      'the CRD is as before',
      async () => versions(await crd()),
      (found) => `${found}` === `${former}`,
    );
    expect((await stage.shoot.find(kind, object))?.spec).toMatchObject(spec);
    await install(newest);
    expect(versions(await crd())).toEqual(['v1']);
  });

  it('says in Events of the Shoot what the upgrade changes, once, and nothing where it changes nothing', async () => {
    const events = async () => {
      const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
      return items.filter(({ reason }) => reason === 'FluxUpgrade').map(({ message }) => String(message));
    };
    await install(FORMER_RELEASE);
    expect(await events()).toEqual([]);
    stage.requests.length = 0;
    await install(newest);
    const said = await events();
    const posted = stage.requests.filter(({ method, resource }) => method === 'POST' && resource === 'events');
    // Storing the objects in other versions takes several runs, and each Event is sent by one of them.
    expect(posted.filter(({ status }) => status === 409)).toEqual([]);
    expect(posted.length).toBeGreaterThanOrEqual(said.length);
    expect(said).toContainEqual(
      `Flux is upgraded from ${FORMER_RELEASE} to ${newest}. From Flux v2.9.0 on a Kustomization with postBuild fails on a variable that has neither a value nor a default; give each such variable a value, or a default as in $\{name:=default}.`,
    );
    expect(new Set(said).size).toBe(said.length);
    await install(newest);
    expect(await events()).toEqual(said);
  });
});
