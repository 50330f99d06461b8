import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { stringify } from 'yaml';
import { explain } from '../../functions/readiness/explain/explain.ts';
import { readiness } from '../../functions/readiness/kstatus.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually } from '../scenarios/stage.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { failingReleases } from './failing/helm.ts';
import { failingKustomizations } from './failing/kustomizations.ts';
import type { FailingObject } from './failing/object.ts';
import { failingOthers } from './failing/others.ts';
import { type StartedServers, startServers } from './failing/servers.ts';
import { failingSources } from './failing/sources.ts';
import { type FluxStage, startFluxStage } from './sync/flux-stage.ts';
import { allKinds } from './sync/kinds.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const fieldManager = 'test';
const place = { object: 'providerConfig', path: 'objects[1]' };
const origin = { from: 'providerConfig', isReleased: false, place } as const;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('what the real controllers of Flux report', () => {
  let apis: RealApis;
  let git: GitServer;
  let started: StartedServers;
  let flux: FluxStage;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
    started = await startServers(git);
    flux = await startFluxStage(apis, fluxDistribution ?? '');
  });

  afterAll(async () => {
    await flux?.[Symbol.asyncDispose]();
    await started?.[Symbol.asyncDispose]();
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  const kindOf = (kind: string): Resource => {
    const found = Object.values(allKinds).find((resource) => resource.kind === kind);
    if (found === undefined) throw new Error(`No kind ${kind}.`);
    return found;
  };
  const metadataOf = (name: string) => ({ namespace: 'flux-system', name });
  const explained = (kind: string, live: KubeObject | undefined) => {
    if (live === undefined) return undefined;
    const state = readiness({ ...live, kind });
    return state.state === 'current' ? undefined : explain({ ...live, kind }, state.message, origin);
  };

  it('is explained on the Extension of the Shoot, with the place in the configuration', async () => {
    const { registry } = started.servers;
    const objects = [
      {
        kind: 'OCIRepository',
        metadata: { name: 'wrong-tag' },
        spec: { interval: '1h', url: `oci://${registry}/fleet`, ref: { tag: 'v9' } },
      },
      { kind: 'HelmRelease', metadata: { name: 'wrong-chart' }, spec: { interval: '1h', ...chartOfOci('wrong-tag') } },
    ];
    await flux.stage.setFluxConfig({
      repositoryUrl: started.servers.git.httpUrl,
      repositoryBranch: 'main',
      repositoryPath: './plain',
      'config.yaml': stringify({ flux: { componentsExtra: ['image-reflector-controller'] }, objects }),
    });
    await flux.stage.reconcileShoot();
    await flux.stage.untilReady();
    const condition = await eventually(
      'both are explained',
      async () => (await flux.stage.extension()).status?.conditions?.find(({ type }) => type === 'ObjectsReady'),
      (found) => /OCIRepository flux-system\/wrong-tag: the certificate /.test(found?.message ?? ''),
      (found) => found?.message,
      60,
    );
    expect(condition?.message).toMatch(
      /OCIRepository flux-system\/wrong-tag: the certificate of \S+ is not signed by a trusted authority; add the certificate of its authority as ca\.crt to a new Secret that you reference as config\.yaml\.objects\[0\]\.spec\.certSecretRef of ConfigMap garden-foo\/flux-config\./,
    );
    expect(condition?.message).toContain(
      'HelmRelease flux-system/wrong-chart: OCIRepository flux-system/wrong-tag is not',
    );
  });

  it('has a reason and a remedy for each failure, and shows no secrets', async () => {
    const { shoot } = flux.stage;
    for (const [name, values] of Object.entries(started.secrets))
      await shoot.apply(resources.secrets, secret(name, values), { fieldManager });
    const objects: FailingObject[] = [
      ...failingSources(started.servers),
      ...failingReleases(),
      ...failingOthers(started.servers),
      ...failingKustomizations(),
    ];
    for (const { kind, name, spec } of objects) {
      const resource = kindOf(kind);
      const apiVersion = `${resource.group}/${resource.version}`;
      await shoot.create(resource, { apiVersion, kind, metadata: metadataOf(name), spec }, { fieldManager });
    }
    const wrong: string[] = [];
    for (const { kind, name, reason, explanation = '' } of objects) {
      if (reason === undefined) continue;
      const isExplained = (live: KubeObject | undefined) => {
        const found = explained(kind, live);
        return found?.reason === reason && found.message.includes(explanation);
      };
      const live = await eventually(
        `${kind} ${name}`,
        () => shoot.find(kindOf(kind), metadataOf(name)),
        isExplained,
        undefined,
        wrong.length > 2 ? 5 : 60,
      ).catch(async () => {
        const last = await shoot.find(kindOf(kind), metadataOf(name));
        const { reason: found, message } = explained(kind, last) ?? {};
        wrong.push(`${kind} ${name} is ${found} instead of ${reason}: ${message}`);
        return last;
      });
      const { message = '' } = explained(kind, live) ?? {};
      expect(message).not.toContain('s3cr3t');
    }
    expect(wrong).toEqual([]);
  });
});

function chartOfOci(name: string): object {
  return { targetNamespace: 'default', storageNamespace: 'flux-system', chartRef: { kind: 'OCIRepository', name } };
}

function secret(name: string, values: Record<string, string>): KubeObject {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const type = '.dockerconfigjson' in values ? 'kubernetes.io/dockerconfigjson' : 'Opaque';
  const metadata = { namespace: 'flux-system', name };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type, data: Object.fromEntries(data) } as KubeObject;
}
